import type { AuthorizationServerMetadata, OAuthError, OAuthTokens } from '@modelcontextprotocol/client';
import { isLoopbackName } from '../../core/auth-settings.ts';
import type { Cause } from '../../core/cause.ts';
import type { AuthSpec } from '../../core/server-spec.ts';
import {
  getNamedUrlChooser,
  formatReachRemedy,
  toOutbound,
  type ReachRules,
  type UrlChooser,
} from '../../core/reach-rules.ts';
import { resolveReaches } from '@assay-mcp/kit/platform/addresses';
import { openSecureContext, type SecureContext } from '@assay-mcp/kit/platform/secure-context';
import type { TlsFiles } from '@assay-mcp/kit/tls-files';
import { formatTlsMember } from '../../core/tls-member.ts';
import { openCarefulFetch, Unfetched, type CarefulFetch } from '@assay-mcp/kit/platform/careful-fetch';
import { authenticateClient, getClientAuthentication } from './client-authentication.ts';
import { toHeldTokens, isSendable, type CredentialContent, type HeldTokens } from './credential-content.ts';
import type { ServerUrl } from './server-url.ts';
import { SignInFault } from './sign-in-answer.ts';
import { truncateText } from '@assay-mcp/kit/shorten';
import { mergeScopes } from '@assay-mcp/protocol/challenge';

const REQUEST_LIMIT_MS = 10_000;
const ANSWER_LIMIT_BYTES = 256 * 1024;

/** The requests of one sign-in, renewal or revocation. */
export interface IssuerFetch extends CarefulFetch {
  /**
   * Shows the client certificate at the endpoints of this metadata, too, if the client authenticates with it. Only for
   * metadata of the authorization server that the entry names.
   */
  trustEndpoints(metadata: AuthorizationServerMetadata | undefined): void;
}

/**
 * Opens a fetch for URLs named by the server at this URL, or by its entry. The caller closes it. Throws SignInFault if a
 * file of the entry's certificates cannot be used.
 */
export async function openFetchFor(
  { url, chooser, auth, proxySpec, tls }: ServerUrl,
  rules: ReachRules,
  signal?: AbortSignal,
): Promise<IssuerFetch> {
  const own = await resolveReaches(url.hostname);
  const namer = { url, chooser, isPublic: own.length === 0 || own.includes('public') };
  const entryUrls = listAuthUrls(auth);
  const entryOrigins = new Set(entryUrls.map(({ origin }) => origin));
  const chooserOf = (target: URL): UrlChooser =>
    entryOrigins.has(target.origin) ? chooser : getNamedUrlChooser(target, namer);
  // The rules decide who may name a loopback address; this only permits it to be without TLS.
  const isLoopback = own.length > 0 && own.every((reach) => reach === 'loopback');
  const secureContext = await readSecureContext(tls);
  // A server must not choose to whom the client certificate is shown.
  const ownOrigins = new Set([url.origin, ...entryOrigins, URL.parse(auth?.issuer ?? '')?.origin]);
  const opened = openCarefulFetch({
    secureContextFor: (target) => (ownOrigins.has(target.origin) ? secureContext : undefined),
    reachesFor: (target) => rules[chooserOf(target)],
    outboundFor: (target) => toOutbound(rules, chooserOf(target), proxySpec, chooser),
    remedy: (reaches, target) => formatReachRemedy(reaches, chooserOf(target)),
    allowsPlainLoopback: isLoopback || entryUrls.some(({ hostname }) => isLoopbackName(hostname)),
    limitMs: REQUEST_LIMIT_MS,
    limitBytes: ANSWER_LIMIT_BYTES,
    signal,
  });
  return {
    ...opened,
    trustEndpoints: (metadata) => {
      if (auth?.tokenAuthMethod === undefined) return;
      for (const endpoint of [metadata?.token_endpoint, metadata && revocationEndpoint(metadata)])
        ownOrigins.add(URL.parse(endpoint ?? '')?.origin);
    },
  };
}

async function readSecureContext(tls: TlsFiles | undefined): Promise<SecureContext | undefined> {
  const context = tls && (await openSecureContext(tls));
  if (context === undefined || context.ok) return context?.value;
  const { file, path, reason } = context.error;
  throw new SignInFault(
    `the file ${JSON.stringify(path)} of "${formatTlsMember(file)}" cannot be used: ${reason}`,
  );
}

/** The URLs in an entry to which requests are sent. */
function listAuthUrls(auth: AuthSpec = {}): readonly URL[] {
  const { authorizationServer, metadataUrl, authorizationEndpoint, tokenEndpoint } = auth;
  return [authorizationServer, metadataUrl, authorizationEndpoint, tokenEndpoint].flatMap((text) => {
    const url = URL.parse(text ?? '');
    return url === null ? [] : [url];
  });
}

/** Why a renewal failed at the issuer, without the server and subject. */
export type RenewalFault =
  | { readonly code: 'AUTHORIZATION_SERVER_UNREACHABLE'; readonly reason: string }
  | { readonly code: 'TOKEN_RESPONSE_INVALID' | 'RENEWAL_LOCKED' }
  | { readonly code: 'RENEWAL_FAILED'; readonly error: string };

/** The outcome of a token refresh. It holds no secrets. */
export type Renewal =
  | { readonly kind: 'renewed'; readonly tokens: HeldTokens; readonly request: RefreshRequest }
  /** The issuer will never renew these tokens again. */
  | { readonly kind: 'ended'; readonly cause: Cause }
  /** The issuer was unreachable or had an error. */
  | { readonly kind: 'failed'; readonly fault: RenewalFault };

/** Exchanges the refresh token, which may be invalid afterwards, for a new access token (RFC 6749, section 6). */
export async function renew(
  content: CredentialContent,
  { asked, rules }: { readonly asked: ServerUrl; readonly rules: ReachRules },
  nowMs: () => number,
): Promise<Renewal> {
  const { tokens } = content;
  if (tokens?.refresh === undefined) return { kind: 'ended', cause: { code: 'TOKEN_EXPIRED' } };
  const { OAuthError } = await import('@modelcontextprotocol/client');
  let status = 0;
  let fetching: IssuerFetch | undefined;
  try {
    const opened = (fetching = await openFetchFor(asked, rules));
    opened.trustEndpoints(content.server.metadata);
    const fetchFn = async (target: string | URL, init?: RequestInit): Promise<Response> => {
      const response = await opened.fetch(target, init);
      status = response.status;
      return response;
    };
    const { renewed, request } = await refresh({ content, refreshToken: tokens.refresh, asked, fetchFn });
    const held = toHeldTokens(renewed, nowMs());
    return isSendable(held.access)
      ? { kind: 'renewed', tokens: { ...held, scope: held.scope ?? tokens.scope }, request }
      : { kind: 'ended', cause: { code: 'TOKEN_INVALID' } };
  } catch (error) {
    if (error instanceof OAuthError) return refusedRenewal(error, status);
    if (error instanceof Unfetched || error instanceof SignInFault) {
      // A SignInFault is about a key or certificate of this machine.
      const reason = error instanceof Unfetched ? error.message : `cannot be asked: ${error.message}`;
      return { kind: 'failed', fault: { code: 'AUTHORIZATION_SERVER_UNREACHABLE', reason } };
    }
    return { kind: 'failed', fault: { code: 'TOKEN_RESPONSE_INVALID' } };
  } finally {
    await fetching?.close();
  }
}

/** The optional parameters of a refresh request. */
export interface RefreshRequest {
  readonly scope: string | undefined;
  readonly resource: string | undefined;
}

interface Refreshing {
  readonly content: CredentialContent;
  readonly refreshToken: string;
  readonly asked: ServerUrl;
  readonly fetchFn: (target: string | URL, init?: RequestInit) => Promise<Response>;
}

/** An error other than those about the grant or the client may be due to an optional parameter, so it is left out. */
async function refresh({ content, refreshToken, asked, fetchFn }: Refreshing): Promise<{
  readonly renewed: OAuthTokens;
  readonly request: RefreshRequest;
}> {
  const { refreshAuthorization, OAuthError } = await import('@modelcontextprotocol/client');
  const { server, client } = content;
  const wanted = asked.auth?.resource;
  let request: RefreshRequest = {
    scope: scopeAtRefresh(content),
    resource: wanted === false ? undefined : (wanted ?? content.resource),
  };
  for (;;) {
    const { scope, resource } = request;
    try {
      const renewed = await refreshAuthorization(server.url, {
        ...(server.metadata && { metadata: server.metadata }),
        clientInformation: client,
        refreshToken,
        ...(scope !== undefined && { scope }),
        ...(resource !== undefined && { resource }),
        ...getClientAuthentication(asked.auth, client),
        fetchFn,
      });
      return { renewed, request };
    } catch (error) {
      const less: RefreshRequest | undefined =
        error instanceof OAuthError ? leaveOut({ scope, resource }, error.code, wanted) : undefined;
      if (less === undefined) throw error;
      request = less;
    }
  }
}

/**
 * The same as at the sign-in: some issuers need it again. If fewer of the same scopes were granted, only those: more
 * must not be asked for (RFC 6749, section 6).
 */
function scopeAtRefresh({ scope, tokens }: CredentialContent): string | undefined {
  const [asked, granted] = [mergeScopes(scope), mergeScopes(tokens?.scope)];
  const isPart = granted.length > 0 && granted.every((one) => asked.includes(one));
  return isPart ? granted.join(' ') : scope;
}

/** Undefined if nothing is left to leave out. What the operator wrote stays. */
function leaveOut(
  { scope, resource }: RefreshRequest,
  code: string,
  wanted: string | false | undefined,
): RefreshRequest | undefined {
  if (FINAL.has(code) || code === 'server_error') return undefined;
  if (code === 'invalid_scope') return scope === undefined ? undefined : { scope: undefined, resource };
  return resource === undefined || wanted !== undefined ? undefined : { scope, resource: undefined };
}

/** Errors that invalidate the grant or the client are final; all others may be temporary. */
const FINAL: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

/** An issuer that is overloaded or failing says nothing about the grant, whatever its body says. */
function refusedRenewal({ code }: OAuthError, status: number): Renewal {
  const error = truncateText(code, 100);
  return FINAL.has(code) && (status === 400 || status === 401)
    ? { kind: 'ended', cause: { code: 'RENEWAL_REFUSED', error } }
    : { kind: 'failed', fault: { code: 'RENEWAL_FAILED', error } };
}

/**
 * Asks the issuer to revoke the token (RFC 7009). Returns false if it offers no revocation, refuses, or is unreachable.
 */
export async function revoke(
  { tokens, client, server }: CredentialContent,
  asked: ServerUrl,
  rules: ReachRules,
): Promise<boolean> {
  const endpoint = server.metadata && revocationEndpoint(server.metadata);
  if (tokens === undefined || endpoint === undefined) return false;
  let fetching: IssuerFetch | undefined;
  try {
    fetching = await openFetchFor(asked, rules);
    fetching.trustEndpoints(server.metadata);
    const body = new URLSearchParams({ token: tokens.refresh ?? tokens.access });
    body.set('token_type_hint', tokens.refresh === undefined ? 'access_token' : 'refresh_token');
    const headers = new Headers();
    const { metadata } = server;
    await authenticateClient(asked.auth, { client, metadata, endpoint }, { headers, body });
    const response = await fetching.fetch(endpoint, { method: 'POST', headers, body });
    return response.ok;
  } catch (error) {
    if (error instanceof Unfetched || error instanceof SignInFault) return false;
    throw error;
  } finally {
    await fetching?.close();
  }
}

function revocationEndpoint(metadata: AuthorizationServerMetadata): string | undefined {
  const endpoint = Object.entries(metadata).find(([name]) => name === 'revocation_endpoint')?.[1];
  return typeof endpoint === 'string' && URL.canParse(endpoint) ? endpoint : undefined;
}

import type { OAuthError } from '@modelcontextprotocol/client';
import type { Cause } from '../../core/cause.ts';
import { getNamedUrlChooser, formatReachRemedy, type ReachRules, type UrlChooser } from '../../core/reach.ts';
import { resolveReaches } from '../../platform/addresses.ts';
import { openCarefulFetch, Unfetched, type CarefulFetch } from '../../platform/careful-fetch.ts';
import {
  toHeldTokens,
  isSendable,
  type CredentialContent,
  type HeldClient,
  type HeldMetadata,
  type HeldTokens,
} from './credential-content.ts';
import { truncateText } from '../../core/shorten.ts';

const REQUEST_LIMIT_MS = 10_000;
const ANSWER_LIMIT_BYTES = 256 * 1024;

/** A server or issuer, and who chose its URL. */
export interface ServerUrl {
  readonly url: URL;
  readonly chooser: UrlChooser;
}

/** Opens a fetch for URLs named by the server at this URL. The caller closes it. */
export async function openFetchFor(
  { url, chooser }: ServerUrl,
  rules: ReachRules,
  signal?: AbortSignal,
): Promise<CarefulFetch> {
  const own = await resolveReaches(url.hostname);
  const namer = { url, chooser, isPublic: own.length === 0 || own.includes('public') };
  const allowsPlainLoopback = own.length > 0 && own.every((reach) => reach === 'loopback');
  return openCarefulFetch({
    reachesFor: (target) => rules[getNamedUrlChooser(target, namer)],
    remedy: (reaches, target) => formatReachRemedy(reaches, getNamedUrlChooser(target, namer)),
    allowsPlainLoopback,
    limitMs: REQUEST_LIMIT_MS,
    limitBytes: ANSWER_LIMIT_BYTES,
    signal,
  });
}

/** Why a renewal failed at the issuer, without the server and subject. */
export type RenewalFault =
  | { readonly code: 'AUTHORIZATION_SERVER_UNREACHABLE'; readonly reason: string }
  | { readonly code: 'TOKEN_RESPONSE_INVALID' | 'RENEWAL_LOCKED' }
  | { readonly code: 'RENEWAL_FAILED'; readonly error: string };

/** The outcome of a token refresh. It holds no secrets. */
export type Renewal =
  | { readonly kind: 'renewed'; readonly tokens: HeldTokens }
  /** The issuer will never renew these tokens again. */
  | { readonly kind: 'ended'; readonly cause: Cause }
  /** The issuer was unreachable or had an error. */
  | { readonly kind: 'failed'; readonly fault: RenewalFault };

/** Exchanges the refresh token, which may be invalid afterwards, for a new access token (RFC 6749, section 6). */
export async function renew(
  { tokens, client, server, resource }: CredentialContent,
  { asked, rules }: { readonly asked: ServerUrl; readonly rules: ReachRules },
  nowMs: () => number,
): Promise<Renewal> {
  if (tokens?.refresh === undefined) return { kind: 'ended', cause: { code: 'TOKEN_EXPIRED' } };
  const { refreshAuthorization, OAuthError } = await import('@modelcontextprotocol/client');
  const fetching = await openFetchFor(asked, rules);
  try {
    const renewed = await refreshAuthorization(server.url, {
      ...(server.metadata && { metadata: server.metadata }),
      clientInformation: client,
      refreshToken: tokens.refresh,
      ...(resource !== undefined && { resource }),
      fetchFn: (target, init) => fetching.fetch(target, init),
    });
    const held = toHeldTokens(renewed, nowMs());
    return isSendable(held.access)
      ? { kind: 'renewed', tokens: { ...held, scope: held.scope ?? tokens.scope } }
      : { kind: 'ended', cause: { code: 'TOKEN_INVALID' } };
  } catch (error) {
    if (error instanceof OAuthError) return refusedRenewal(error);
    const fault: RenewalFault =
      error instanceof Unfetched
        ? { code: 'AUTHORIZATION_SERVER_UNREACHABLE', reason: error.message }
        : { code: 'TOKEN_RESPONSE_INVALID' };
    return { kind: 'failed', fault };
  } finally {
    await fetching.close();
  }
}

/** Errors that invalidate the grant or the client are final; all others may be temporary. */
const FINAL: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

function refusedRenewal({ code }: OAuthError): Renewal {
  const error = truncateText(code, 100);
  return FINAL.has(code)
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
  const endpoint = revocationEndpoint(server);
  if (tokens === undefined || endpoint === undefined) return false;
  const fetching = await openFetchFor(asked, rules);
  try {
    const body = new URLSearchParams({ token: tokens.refresh ?? tokens.access });
    body.set('token_type_hint', tokens.refresh === undefined ? 'access_token' : 'refresh_token');
    const headers = await authenticated(client, server, body);
    const response = await fetching.fetch(endpoint, { method: 'POST', headers, body });
    return response.ok;
  } catch (error) {
    if (error instanceof Unfetched) return false;
    throw error;
  } finally {
    await fetching.close();
  }
}

function revocationEndpoint({ metadata }: HeldMetadata): string | undefined {
  const endpoint = Object.entries(metadata ?? {}).find(([name]) => name === 'revocation_endpoint')?.[1];
  return typeof endpoint === 'string' && URL.canParse(endpoint) ? endpoint : undefined;
}

/** Authenticates the client at this server (RFC 6749, section 2.3). */
async function authenticated(
  client: HeldClient,
  { metadata }: HeldMetadata,
  body: URLSearchParams,
): Promise<Readonly<Record<string, string>>> {
  const { selectClientAuthMethod } = await import('@modelcontextprotocol/client');
  const { client_id: id, client_secret: secret } = client;
  const supported = metadata?.token_endpoint_auth_methods_supported ?? [];
  const method = selectClientAuthMethod(client, supported);
  if (method === 'client_secret_basic' && secret !== undefined)
    return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
  body.set('client_id', id);
  if (method === 'client_secret_post' && secret !== undefined) body.set('client_secret', secret);
  return {};
}

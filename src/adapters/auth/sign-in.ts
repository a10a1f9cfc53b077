import { randomBytes } from 'node:crypto';
import type { OAuthDiscoveryState } from '@modelcontextprotocol/client';
import { getUrlChooser, type ReachRules } from '../../core/reach.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { computeIdentity } from '../../core/server-identity.ts';
import type { AuthSpec, ServerSpec } from '../../core/server-spec.ts';
import type { SignInRequest } from '../../gateway/ports/credentials.ts';
import type { CredentialKey } from '../../gateway/ports/store.ts';
import { type CarefulFetch, Unfetched } from '../../platform/careful-fetch.ts';
import { openRedirect, type OpenRedirect } from '../../platform/redirect.ts';
import { type BearerChallenge, parseBearerChallenge, mergeScopes } from '../../protocol/challenge.ts';
import { buildOwnRequest } from '../../protocol/message.ts';
import { openFetchFor } from './authorization-server.ts';
import { type CredentialContent, toHeldTokens, isSendable, pickMetadata } from './credential-content.ts';
import {
  type EncryptedCredentials,
  isSameIssuer,
  findCredential,
  type OpenedCredential,
} from './encrypted-credentials.ts';
import { waitForAnswer, toSignInRefusal, SignInFault } from './sign-in-answer.ts';
import { SignInClient } from './sign-in-client.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import { truncateText } from '../../core/shorten.ts';

interface SignInDeps {
  readonly credentials: EncryptedCredentials;
  readonly openBrowser: (address: string) => Promise<boolean>;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly rules: ReachRules;
}

/**
 * Signs a user in to a server and stores the result (2026-07-28, basic/authorization). AUTHORIZATION_FAILED if it fails
 * or the server requires no sign-in.
 */
export async function signIn(
  spec: ServerSpec,
  request: SignInRequest,
  deps: SignInDeps,
): Promise<Result<CredentialKey, Refusal>> {
  const { transport, name } = spec;
  const server = getSourceKind(transport).signIn(transport);
  if (server === undefined) throw new Error('Only servers at a URL are signed in at.');
  const limit = AbortSignal.any([AbortSignal.timeout(request.limitMs), deps.signal]);
  const all = await deps.credentials.all();
  if (!all.ok) return all;
  const before = findCredential(all.value, spec, request.subject);
  const asked = { url: server.url, chooser: getUrlChooser(spec) };
  const fetching = await openFetchFor(asked, deps.rules, limit);
  let redirect: OpenRedirect | undefined;
  try {
    const target = await discover(server.url, fetching);
    checkIssuer(target, server.auth?.issuer);
    const scope = scopeFor({ auth: server.auth, challenge: target.challenge, before });
    const registered = registeredAt({ issuer: target.issuer, before, scope, auth: server.auth });
    const state = randomBytes(24).toString('base64url');
    redirect = await openRedirect({ wanted: registered?.redirectUrl, state });
    const client = new SignInClient({
      auth: server.auth ?? {},
      redirectUrl: redirect.url,
      state,
      discovered: target.discovered,
      registered: registered?.redirectUrl === redirect.url ? registered : undefined,
      version: deps.version,
    });
    const flow: Flow = { url: server.url, client, fetching, scope };
    const address = await begin(flow);
    const isOpened = request.opensBrowser && (await deps.openBrowser(address));
    request.onAddress(address, target.issuer, isOpened);
    const answer = await waitForAnswer({ redirect, pasted: request.pasted, state, signal: limit });
    const content = contentOf(await finish(flow, answer), target);
    const { subject } = request;
    const key = { server: name, identity: computeIdentity(spec), issuer: target.issuer, subject };
    const saved = await deps.credentials.save(key, content);
    return saved.ok ? ok(key) : saved;
  } catch (error) {
    return err(await toSignInRefusal(error, name, limit.aborted && !deps.signal.aborted));
  } finally {
    await redirect?.close();
    await fetching.close();
  }
}

/** The issuer to sign in to, and the server's challenge. */
interface SignInTarget {
  readonly challenge: BearerChallenge | undefined;
  readonly discovered: OAuthDiscoveryState;
  readonly issuer: string;
}

/** The SDK has compared the issuer with the address of its metadata. */
function checkIssuer({ issuer, discovered }: SignInTarget, expected: string | undefined): void {
  const named = [issuer, discovered.authorizationServerUrl];
  if (expected === undefined || named.every((one) => isSameIssuer(one, expected))) return;
  const other = named.find((one) => !isSameIssuer(one, expected)) ?? issuer;
  throw new SignInFault(
    `the server names the issuer ${JSON.stringify(truncateText(other, 200))}, and "auth.issuer" of its entry is ${JSON.stringify(expected)}; nothing was sent there`,
  );
}

async function discover(url: URL, fetching: CarefulFetch): Promise<SignInTarget> {
  const { discoverOAuthServerInfo } = await import('@modelcontextprotocol/client');
  const { isRefused, challenge } = await probeWithout(url, fetching);
  const resourceMetadataUrl = challenge?.resourceMetadata;
  const discovered = await discoverOAuthServerInfo(url, {
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    fetchFn: (target, init) => fetching.fetch(target, init),
  });
  const { authorizationServerMetadata: metadata, resourceMetadata } = discovered;
  if (!isRefused && metadata === undefined && resourceMetadata === undefined)
    throw new SignInFault('the server does not ask anybody to sign in');
  return {
    challenge,
    discovered: {
      ...discovered,
      ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }),
    },
    issuer: metadata?.issuer ?? discovered.authorizationServerUrl,
  };
}

interface RegistrationRequest {
  readonly issuer: string;
  readonly before: OpenedCredential | undefined;
  readonly scope: string | undefined;
  readonly auth: AuthSpec | undefined;
}

/** The earlier registration, if it can be reused. */
function registeredAt({
  issuer,
  before,
  scope,
  auth,
}: RegistrationRequest): CredentialContent['client'] | undefined {
  const content = before?.stored.issuer === issuer ? before.content : undefined;
  // The issuer may have deleted the registration along with the tokens it revoked.
  if (content?.tokens === undefined || auth?.clientId !== undefined) return undefined;
  const { client } = content;
  const mayAsk = client.scope === undefined ? undefined : new Set(mergeScopes(client.scope));
  const isWideEnough = mergeScopes(scope).every((one) => mayAsk?.has(one) ?? true);
  return client.redirectUrl !== undefined && isWideEnough ? client : undefined;
}

/** The configured scopes, else the ones the server asks for, plus those granted or wanted before. */
function scopeFor({
  auth,
  challenge,
  before,
}: {
  readonly auth: AuthSpec | undefined;
  readonly challenge: BearerChallenge | undefined;
  readonly before: OpenedCredential | undefined;
}): string | undefined {
  const wanted = before?.content?.wantedScope;
  const asked = auth?.scope ?? challenge?.scope;
  const all =
    wanted === undefined ? mergeScopes(asked) : mergeScopes(asked, before?.content?.tokens?.scope, wanted);
  return all.length === 0 ? undefined : all.join(' ');
}

interface Flow {
  readonly url: URL;
  readonly client: SignInClient;
  readonly fetching: CarefulFetch;
  readonly scope: string | undefined;
}

/** Registers Assay if needed. Returns the URL to open. */
async function begin({ url, client, fetching, scope }: Flow): Promise<string> {
  const { auth } = await import('@modelcontextprotocol/client');
  await auth(client, {
    serverUrl: url,
    ...(scope !== undefined && { scope }),
    fetchFn: (target, init) => fetching.fetch(target, init),
  });
  const { address } = client;
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:')
    throw new SignInFault('the sign-in address is not a web address');
  return address.href;
}

async function finish(
  { url, client, fetching, scope }: Flow,
  answer: URLSearchParams,
): Promise<Flow['client']> {
  const { auth, validateAuthorizationResponseIssuer } = await import('@modelcontextprotocol/client');
  const [code, iss] = [answer.get('code'), answer.get('iss') ?? undefined];
  if (code === null) {
    const metadata = client.discoveryState().authorizationServerMetadata;
    // An error response is trusted only from the issuer that was asked (RFC 9207, section 2.4).
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    throw new SignInFault(
      `the issuer refused: ${JSON.stringify(truncateText(answer.get('error') ?? '', 100))}`,
    );
  }
  await auth(client, {
    serverUrl: url,
    authorizationCode: code,
    ...(iss !== undefined && { iss }),
    ...(scope !== undefined && { scope }),
    fetchFn: (target, init) => fetching.fetch(target, init),
  });
  return client;
}

function contentOf({ obtained, held }: SignInClient, target: SignInTarget): CredentialContent {
  if (obtained === undefined || held === undefined) throw new SignInFault('the issuer gave no token');
  if (obtained.token_type.toLowerCase() !== 'bearer' || !isSendable(obtained.access_token))
    throw new SignInFault('the issuer gave a token of a kind that Assay cannot send');
  const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } = target.discovered;
  return {
    tokens: toHeldTokens(obtained, Date.now()),
    client: held,
    wantedScope: undefined,
    resource: resourceMetadata?.resource,
    server: { url: authorizationServerUrl, metadata: pickMetadata(authorizationServerMetadata) },
  };
}

/** Whether a server refuses requests without credentials, and its challenge. */
interface Probed {
  readonly isRefused: boolean;
  readonly challenge: BearerChallenge | undefined;
}

/** Asks a server without credentials. An unreachable server does not count as a refusal. */
async function probeWithout(url: URL, fetching: CarefulFetch): Promise<Probed> {
  // Some servers accept a handshake from anyone, and it could leave a session behind.
  const { bytes } = buildOwnRequest('tools/list');
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  try {
    const response = await fetching.fetch(url, { method: 'POST', headers, body: bytes.toString() });
    const challenge = parseBearerChallenge(response.headers.get('www-authenticate') ?? undefined);
    return { isRefused: response.status === 401, challenge };
  } catch (error) {
    if (error instanceof Unfetched) return { isRefused: false, challenge: undefined };
    throw error;
  }
}

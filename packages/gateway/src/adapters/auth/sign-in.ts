import { toServerUrl } from './server-url.ts';
import { randomBytes } from 'node:crypto';
import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { ReachRules } from '../../core/reach-rules.ts';
import type { Refusal } from '../../core/refusal.ts';
import { computeShortHash } from '@assay-mcp/kit/digest';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { computeIdentity } from '../../core/server-identity.ts';
import type { OwnClient } from '../../core/own-client.ts';
import type { AuthSpec, ServerSpec } from '../../core/server-spec.ts';
import type { SignInRequest } from '../../gateway/ports/credentials.ts';
import type { CredentialKey } from '../../gateway/ports/store.ts';
import { type CarefulFetch, Unfetched } from '@assay-mcp/kit/platform/careful-fetch';
import { openRedirect, type OpenRedirect } from '@assay-mcp/kit/platform/redirect';
import { type BearerChallenge, parseBearerChallenge, mergeScopes } from '@assay-mcp/protocol/challenge';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import {
  AuthorizationRefused,
  beginFlow,
  finishFlow,
  supportsDocuments,
  type Flow,
} from './authorization-flow.ts';
import { openFetchFor } from './authorization-server.ts';
import {
  type CredentialContent,
  type HeldClient,
  isSendable,
  pickMetadata,
  toHeldTokens,
} from './credential-content.ts';
import { pickPlace } from './credential-place.ts';
import { discover, type Discovered } from './discovery.ts';
import { type EncryptedCredentials, findCredential, type OpenedCredential } from './encrypted-credentials.ts';
import { toChallenge } from './remembered-challenge.ts';
import { waitForAnswer, toSignInRefusal, SignInFault } from './sign-in-answer.ts';
import { SignInTrace } from './sign-in-trace.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';

interface SignInDeps {
  readonly credentials: EncryptedCredentials;
  readonly openBrowser: (address: string) => Promise<boolean>;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly rules: ReachRules;
  /** Undefined if this gateway has no public URL. */
  readonly ownClient: OwnClient | undefined;
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
  const earlier = findCredential(all.value, spec, request.subject);
  const before = earlier?.kind === 'usable' ? earlier.opened : undefined;
  const auth = server.auth ?? {};
  const asked = toServerUrl(spec, server);
  const trace = request.onStep && new SignInTrace(request.onStep);
  let fetching: CarefulFetch | undefined;
  try {
    const opened = await openFetchFor(asked, deps.rules, limit);
    fetching = trace?.wrap(opened) ?? opened;
    const remembered = await deps.credentials.challenge(spec, request.subject);
    const target = await findTarget({
      url: server.url,
      auth,
      fetching,
      remembered: remembered && toChallenge(remembered),
    });
    opened.trustEndpoints(target.discovered.metadata);
    const known = { spec, auth, request, deps, before };
    const signingIn: SigningIn = { ...known, target, fetching, trace, signal: limit };
    const content = await authorize(signingIn);
    const { subject } = request;
    const key = { server: name, identity: computeIdentity(spec), issuer: target.issuer, subject };
    const saved = await deps.credentials.save(key, content);
    return saved.ok ? ok(key) : saved;
  } catch (error) {
    return err(await toSignInRefusal(error, name, limit.aborted && !deps.signal.aborted));
  } finally {
    await fetching?.close();
  }
}

/** The issuer to sign in to, and the server's challenge. */
interface SignInTarget {
  readonly challenge: BearerChallenge | undefined;
  readonly discovered: Discovered;
  /** Under which the sign-in is stored. */
  readonly issuer: string;
}

interface TargetRequest {
  readonly url: URL;
  readonly auth: AuthSpec;
  readonly fetching: CarefulFetch;
  /** The challenge with which a call was refused. */
  readonly remembered: BearerChallenge | undefined;
}

async function findTarget({ url, auth, fetching, remembered }: TargetRequest): Promise<SignInTarget> {
  const probed = await probe(url, fetching, remembered);
  const { isRefused, challenge } = probed;
  const discovered = await discover({ url, auth, challenge, fetching });
  const { metadata, resource, authorizationServer, misses } = discovered;
  if (metadata === undefined) {
    const where = misses.length === 0 ? '' : ` (${misses.join('; ')})`;
    const isNamed = auth.authorizationServer !== undefined || auth.metadataUrl !== undefined;
    if (isNamed) throw new SignInFault(`the authorization server has no metadata there${where}`);
    if (!isRefused && resource === undefined)
      throw new SignInFault(`the server does not ask anybody to sign in${where}`);
  }
  return { challenge, discovered, issuer: metadata?.issuer ?? authorizationServer };
}

interface SigningIn {
  readonly spec: ServerSpec;
  readonly auth: AuthSpec;
  readonly request: SignInRequest;
  readonly deps: SignInDeps;
  readonly before: OpenedCredential | undefined;
  readonly target: SignInTarget;
  readonly fetching: CarefulFetch;
  readonly trace: SignInTrace | undefined;
  readonly signal: AbortSignal;
}

/** An issuer may list `offline_access` and still not know it for this resource: then it is asked without it. */
async function authorize(signingIn: SigningIn): Promise<CredentialContent> {
  const scope = scopeFor(signingIn);
  const withOffline = addOffline(scope, signingIn.target.discovered);
  try {
    return await authorizeOnce(signingIn, withOffline);
  } catch (error) {
    const isUnknown = error instanceof AuthorizationRefused && error.code === 'invalid_scope';
    if (!isUnknown || withOffline === scope) throw error;
    return authorizeOnce(signingIn, scope);
  }
}

async function authorizeOnce(signingIn: SigningIn, scope: string | undefined): Promise<CredentialContent> {
  const { auth, request, deps, target, fetching, trace, signal } = signingIn;
  const { discovered } = target;
  const state = randomBytes(24).toString('base64url');
  const registered = registeredAt(signingIn, scope);
  const document = findDocument(signingIn, registered);
  const redirect = await openRedirectFor(signingIn, { registered, document, state });
  try {
    const flow = await beginFlow({
      auth,
      discovered,
      redirectUrl: redirect.url,
      state,
      scope,
      resource: resourceFor(auth, discovered),
      document: document?.url,
      registered: registered?.redirectUrl === redirect.url ? registered : undefined,
      version: deps.version,
      fetching,
    });
    trace?.sendBrowser(flow.address);
    const isOpened = request.opensBrowser && (await deps.openBrowser(flow.address));
    request.onAddress(flow.address, target.issuer, isOpened);
    const answer = await waitForAnswer({ redirect, pasted: request.pasted, state, signal });
    trace?.receiveBrowser(redirect.url, answer);
    return toContent(await finishFlow(flow, answer), flow);
  } finally {
    await redirect.close();
  }
}

/** The configured one, else that of the metadata as it is written there. */
function resourceFor({ resource }: AuthSpec, discovered: Discovered): string | undefined {
  return resource === false ? undefined : (resource ?? discovered.resource?.resource);
}

/**
 * Where the issuer does not name itself in its answer, each server has its own callback path, so that an answer for one
 * cannot be taken for that of another. With a configured client, the operator has registered the address.
 */
function openRedirectFor(
  { auth, spec, target }: SigningIn,
  {
    registered,
    document,
    state,
  }: {
    readonly registered: HeldClient | undefined;
    readonly document: ClientDocument | undefined;
    readonly state: string;
  },
): Promise<OpenRedirect> {
  const exact = auth.redirectUri ?? document?.redirectUri;
  if (exact !== undefined) return openRedirect({ state, wanted: { url: exact, isExact: true } });
  const { metadata } = target.discovered;
  const namesItself = metadata?.authorization_response_iss_parameter_supported === true;
  const own = computeShortHash(JSON.stringify([spec.name, computeIdentity(spec)]), PATH_DIGITS);
  const path = namesItself || auth.clientId !== undefined ? '/callback' : `/callback/${own}`;
  const earlier = registered?.redirectUrl;
  const isSame = earlier !== undefined && URL.parse(earlier)?.pathname === path;
  return openRedirect({ state, path, ...(isSame && { wanted: { url: earlier, isExact: false } }) });
}

const PATH_DIGITS = 12;

interface ClientDocument {
  readonly url: string;
  /** Undefined: its author knows which it lists. */
  readonly redirectUri?: string;
}

/**
 * The client metadata document to use. That of the gateway lists its public URL only, from which the answer is pasted;
 * so a registration is preferred if a browser on this machine can return to it by itself.
 */
function findDocument(
  { auth, target, request, deps }: SigningIn,
  registered: HeldClient | undefined,
): ClientDocument | undefined {
  const { clientId, clientMetadataUrl: url, redirectUri } = auth;
  const { discovered } = target;
  if (clientId !== undefined || url === false || !supportsDocuments(discovered)) return undefined;
  if (url !== undefined) return { url };
  const isRegistrable = discovered.metadata?.registration_endpoint !== undefined;
  const returnsByItself = request.opensBrowser && (isRegistrable || registered !== undefined);
  const isUsable = request.acceptsPasted && redirectUri === undefined && !returnsByItself;
  return isUsable ? deps.ownClient : undefined;
}

/** The earlier registration, if it can be reused. */
function registeredAt(
  { target, before, auth }: SigningIn,
  scope: string | undefined,
): HeldClient | undefined {
  const content = before?.stored.issuer === target.issuer ? before.content : undefined;
  // The issuer may have deleted the registration along with the tokens it revoked.
  if (content?.tokens === undefined || auth.clientId !== undefined) return undefined;
  const { client } = content;
  const mayAsk = client.scope === undefined ? undefined : new Set(mergeScopes(client.scope));
  const isWideEnough = mergeScopes(scope).every((one) => one === OFFLINE || (mayAsk?.has(one) ?? true));
  return client.redirectUrl !== undefined && isWideEnough ? client : undefined;
}

/**
 * The configured scopes, else the ones the server asks for. If it refused a token for its scopes, also those that were
 * asked for before: a set that only follows the last challenge would alternate for ever.
 */
function scopeFor({ auth, target, before }: SigningIn): string | undefined {
  const content = before?.content;
  const asked = auth.scope ?? target.challenge?.scope ?? target.discovered.resource?.scopes.join(' ');
  const all =
    content?.wantedScope === undefined
      ? mergeScopes(asked)
      : mergeScopes(asked, content.scope ?? content.tokens?.scope, content.wantedScope);
  return all.length === 0 ? undefined : all.join(' ');
}

const OFFLINE = 'offline_access';

/** Without it, issuers that list it give no refresh token (OpenID Connect Core, section 11). */
function addOffline(scope: string | undefined, { metadata }: Discovered): string | undefined {
  if (metadata?.scopes_supported?.includes(OFFLINE) !== true) return scope;
  return mergeScopes(scope, OFFLINE).join(' ');
}

function toContent(obtained: OAuthTokens, { client, options }: Flow): CredentialContent {
  if (obtained.token_type.toLowerCase() !== 'bearer' || !isSendable(obtained.access_token))
    throw new SignInFault('the issuer gave a token of a kind that Assay cannot send');
  const { authorizationServer, metadata } = options.discovered;
  return {
    tokens: toHeldTokens(obtained, Date.now()),
    client,
    wantedScope: undefined,
    resource: options.resource,
    scope: options.scope,
    server: { url: authorizationServer, metadata: pickMetadata(metadata) },
    place: pickPlace(options.auth),
  };
}

/** Whether a server refuses requests without credentials, and its challenge. */
interface Probed {
  readonly isRefused: boolean;
  readonly challenge: BearerChallenge | undefined;
}

/** A name that no tool has, so that the call does nothing even if the server accepts it. */
const NO_TOOL = 'assay-sign-in-probe';

/**
 * Asks a server without credentials. Some list their tools for everyone and refuse calls only. A challenge of the list
 * that names metadata comes first, then the one that a call received earlier. Without either, a call of an unknown tool
 * shows whether the server asks for a sign-in.
 */
async function probe(
  url: URL,
  fetching: CarefulFetch,
  remembered: BearerChallenge | undefined,
): Promise<Probed> {
  // Some servers accept a handshake from anyone, and it could leave a session behind.
  const listed = await askWithout(url, fetching, buildOwnRequest('tools/list').bytes);
  const challenge = listed.challenge?.resourceMetadata === undefined ? remembered : listed.challenge;
  if (listed.isRefused || remembered !== undefined)
    return { isRefused: true, challenge: challenge ?? listed.challenge };
  return askWithout(url, fetching, buildOwnRequest('tools/call', { name: NO_TOOL, arguments: {} }).bytes);
}

/** An unreachable server does not count as a refusal. */
async function askWithout(url: URL, fetching: CarefulFetch, bytes: Buffer): Promise<Probed> {
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

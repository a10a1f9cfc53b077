import { createHash, randomBytes, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { endLater } from './endings.ts';
import { at, type Json, type JsonObject } from './json.ts';

/** The oddities of real authorization servers. Without any, it follows the standards. */
export interface FakeIssuerOptions {
  /** Path of the issuer identifier, such as `/tenant`. */
  readonly path?: string;
  /** Whether the `issuer` in its document ends with a slash. */
  readonly endsWithSlash?: boolean;
  /** The `issuer` in its document, if it is a different text. */
  readonly documentIssuer?: string;
  /** Where its document is: at the OAuth address, the OpenID one, `/odd`, or nowhere. */
  readonly document?: 'oauth' | 'openid' | 'odd' | 'none';
  /** What the other well-known addresses answer. */
  readonly otherAddresses?: 404 | 'html' | 503;
  readonly iss?: 'right' | 'wrong' | 'with_slash' | 'absent';
  readonly isIssAdvertised?: boolean;
  readonly pkceMethods?: readonly string[] | 'absent';
  readonly resource?: 'required' | 'ignored' | 'refused' | 'refused_at_refresh';
  readonly requiresScopeAtRefresh?: boolean;
  /** Parameters that an authorization request must have. */
  readonly requiredParameters?: Readonly<Record<string, string>>;
  /** When it issues a refresh token. */
  readonly refreshTokens?: 'always' | 'access_type' | 'offline_access' | 'never';
  /** Undefined: its document lists none. */
  readonly scopes?: readonly string[];
  /** Refuses these with `invalid_scope`. */
  readonly unknownScopes?: readonly string[];
  readonly registration?: 'open' | 'unlisted' | 'refused' | 'with_secret' | 'with_other_redirect';
  /** Clients that exist without a registration, with their redirect URLs. */
  readonly clients?: Readonly<Record<string, readonly string[]>>;
  /** Clients that must authenticate at its token endpoint: their secret, or the PEM of their public key. */
  readonly credentials?: Readonly<
    Record<
      string,
      { readonly secret: string } | { readonly publicKey: string } | { readonly certificateName: string }
    >
  >;
  /** Serves the token and revocation endpoints at a second origin, which is in its `mtls_endpoint_aliases`. */
  readonly mtls?: ServerOptions;
  /** Reads the document whose URL is a client id. Undefined: these are not supported. */
  readonly readDocument?: (clientId: string) => Promise<Json>;
  /** The `aud` of assertions; by default its identifier. */
  readonly assertionAudience?: string;
  readonly tokenSeconds?: number;
  /** `revokes_family`: a refresh token that is used twice ends the whole grant. */
  readonly rotation?: 'none' | 'rotates' | 'revokes_family';
  /** How long a token response takes in ms. */
  readonly tokenMs?: number;
}

/** One request that it received, with the parameters of its query or body. */
export interface IssuerRequest {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly error?: string;
}

interface Grant {
  readonly scope: string;
  readonly clientId: string;
  readonly resource: string | undefined;
  isRevoked: boolean;
}

interface Code extends Grant {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly hasRefresh: boolean;
}

export interface FakeIssuer {
  /** Its identifier, without a slash at the end. */
  readonly url: string;
  readonly requests: readonly IssuerRequest[];
  /** The requests to an endpoint: `authorize`, `token`, `register` or `revoke`. */
  to(endpoint: string): readonly IssuerRequest[];
  /** Undefined if the access token is not valid. */
  look(
    token: string,
  ): { readonly scope: readonly string[]; readonly resource: string | undefined } | undefined;
  /** Including those that it has not answered yet. */
  countTokenRequests(): number;
  /** Makes all access tokens issued so far invalid; refresh tokens remain. */
  expireAccess(): void;
  /** Answers the next token requests with this status and error, until it is undefined. */
  failTokens(failure: { readonly status: number; readonly error: string } | undefined): void;
}

export async function startFakeIssuer(options: FakeIssuerOptions = {}): Promise<FakeIssuer> {
  const state: State = {
    options,
    origin: '',
    mtlsOrigin: undefined,
    requests: [],
    codes: new Map(),
    refreshTokens: new Map(),
    accessTokens: new Map(),
    clients: new Map(Object.entries(options.clients ?? {})),
    failure: undefined,
    arrivals: 0,
    assertionIds: new Set(),
  };
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    void bodyOf(request).then((body) => answer(state, request, response, body));
  };
  const origin = await listen(receive);
  state.origin = origin;
  if (options.mtls !== undefined) state.mtlsOrigin = await listen(receive, options.mtls);
  return {
    url: origin + (options.path ?? ''),
    requests: state.requests,
    to: (endpoint) => state.requests.filter(({ path }) => path === `/${endpoint}`),
    look(token) {
      const found = state.accessTokens.get(token);
      if (found === undefined || found.grant.isRevoked || found.endMs < Date.now()) return undefined;
      return { scope: found.grant.scope.split(' '), resource: found.grant.resource };
    },
    countTokenRequests: () => state.arrivals,
    expireAccess: () => state.accessTokens.clear(),
    failTokens: (failure) => (state.failure = failure),
  };
}

/** Listens on a free port of 127.0.0.1 until the test file ends, with TLS if its options are given; returns the origin. */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  secure?: ServerOptions,
): Promise<string> {
  const server = secure === undefined ? createServer(handle) : createSecureServer(secure, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return secure === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
}

interface State {
  readonly options: FakeIssuerOptions;
  origin: string;
  mtlsOrigin: string | undefined;
  readonly requests: IssuerRequest[];
  readonly codes: Map<string, Code>;
  readonly refreshTokens: Map<string, { readonly grant: Grant; isUsed: boolean }>;
  readonly accessTokens: Map<string, { readonly grant: Grant; readonly endMs: number }>;
  readonly clients: Map<string, readonly string[]>;
  failure: { readonly status: number; readonly error: string } | undefined;
  arrivals: number;
  readonly assertionIds: Set<string>;
}

function answer(state: State, request: IncomingMessage, response: ServerResponse, body: string): void {
  const url = new URL(request.url ?? '/', state.origin);
  const isJson = request.headers['content-type'] === 'application/json';
  const parameters = isJson
    ? { body }
    : Object.fromEntries(request.method === 'POST' ? new URLSearchParams(body) : url.searchParams);
  const record = (error?: string): void =>
    void state.requests.push({ path: url.pathname, parameters, ...(error !== undefined && { error }) });
  switch (url.pathname) {
    case '/authorize':
      return void authorize(state, url.searchParams, response, record);
    case '/token':
      state.arrivals += 1;
      return void setTimeout(() => {
        const fault = findClientFault(state, request, parameters);
        if (fault === undefined) return token(state, parameters, response, record);
        record(fault);
        sendJson(response, 401, { error: 'invalid_client', error_description: fault });
      }, state.options.tokenMs ?? 0);
    case '/register':
      record();
      return register(state, body, response);
    case '/revoke':
      record(findClientFault(state, request, parameters));
      return revoke(state, parameters['token'] ?? '', response);
    default:
      record();
      return wellKnown(state, url.pathname, response);
  }
}

/** Why the client of a token request is not authenticated. */
function findClientFault(
  { options, origin, assertionIds }: State,
  { headers: { authorization }, socket }: IncomingMessage,
  given: Readonly<Record<string, string>>,
): string | undefined {
  const { credentials, assertionAudience = String(documentOf(options, origin)['issuer']) } = options;
  if (credentials === undefined) return undefined;
  const [basicId = '', basicSecret] = Buffer.from(authorization?.slice('Basic '.length) ?? '', 'base64')
    .toString()
    .split(':');
  const clientId = given['client_id'] ?? basicId;
  const known = credentials[clientId];
  if (known === undefined) return 'unknown client';
  if ('certificateName' in known) {
    const name =
      socket instanceof TLSSocket
        ? at(socket.getPeerCertificate() as unknown as Json, 'subject', 'CN')
        : undefined;
    return name === known.certificateName ? undefined : `the certificate is of ${String(name)}`;
  }
  if ('secret' in known)
    return known.secret === (given['client_secret'] ?? basicSecret) ? undefined : 'wrong secret';
  if (given['client_assertion_type'] !== 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    return 'no assertion';
  const [header = '', claims = '', signature = ''] = (given['client_assertion'] ?? '').split('.');
  const { alg } = partOf(header);
  const key = { key: known.publicKey, dsaEncoding: 'ieee-p1363' } as const;
  const digest = alg === 'ES384' ? 'sha384' : 'sha256';
  if (!verify(digest, Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')))
    return 'wrong signature';
  const { iss, sub, aud, exp, iat, jti } = partOf(claims);
  const nowSeconds = Date.now() / 1_000;
  if (iss !== clientId || sub !== clientId) return 'wrong iss or sub';
  if (aud !== assertionAudience) return 'wrong aud';
  if (Number(exp) < nowSeconds || Number(exp) - Number(iat) > 60) return 'wrong exp';
  if (jti === undefined || assertionIds.has(String(jti))) return 'jti used before';
  assertionIds.add(String(jti));
  return undefined;
}

function partOf(part: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Readonly<Record<string, unknown>>;
}

function wellKnown({ options, origin, mtlsOrigin }: State, path: string, response: ServerResponse): void {
  const { document = 'oauth', otherAddresses = 404, path: own = '' } = options;
  const place = {
    oauth: `/.well-known/oauth-authorization-server${own}`,
    openid: `${own}/.well-known/openid-configuration`,
    odd: '/odd',
    none: undefined,
  }[document];
  if (path === place)
    return sendJson(response, 200, {
      ...documentOf(options, origin),
      ...(mtlsOrigin !== undefined && {
        mtls_endpoint_aliases: {
          token_endpoint: `${mtlsOrigin}/token`,
          revocation_endpoint: `${mtlsOrigin}/revoke`,
        },
      }),
    });
  if (otherAddresses === 'html')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Welcome');
  else response.writeHead(otherAddresses).end();
}

function documentOf(options: FakeIssuerOptions, origin: string): JsonObject {
  const { path = '', endsWithSlash = false, documentIssuer, pkceMethods = ['S256'], scopes } = options;
  const { isIssAdvertised = true, registration = 'open' } = options;
  return {
    issuer: documentIssuer ?? origin + path + (endsWithSlash ? '/' : ''),
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    revocation_endpoint: `${origin}/revoke`,
    ...(registration !== 'unlisted' && { registration_endpoint: `${origin}/register` }),
    response_types_supported: ['code'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    ...(isIssAdvertised && { authorization_response_iss_parameter_supported: true }),
    ...(pkceMethods !== 'absent' && { code_challenge_methods_supported: [...pkceMethods] }),
    ...(scopes && { scopes_supported: [...scopes] }),
    ...(options.readDocument !== undefined && { client_id_metadata_document_supported: true }),
  };
}

/** Consents at once, as a user would. */
async function authorize(
  state: State,
  asked: URLSearchParams,
  response: ServerResponse,
  record: (error?: string) => void,
): Promise<void> {
  const { options } = state;
  const redirectUri = asked.get('redirect_uri') ?? '';
  const clientId = asked.get('client_id') ?? '';
  const allowed = state.clients.get(clientId) ?? (await listRedirects(options, clientId));
  if (!allowed.includes(redirectUri)) {
    record('invalid_redirect_uri');
    response.writeHead(400, { 'content-type': 'text/html' }).end('<p>invalid redirect URI');
    return;
  }
  const error = faultOf(options, asked);
  record(error);
  const back = new URL(redirectUri);
  back.searchParams.set('state', asked.get('state') ?? '');
  const iss = issOf(state);
  if (iss !== undefined) back.searchParams.set('iss', iss);
  if (error === undefined) back.searchParams.set('code', newCode(state, asked));
  else back.searchParams.set('error', error);
  response.writeHead(302, { location: back.href }).end();
}

/** Those of the client metadata document, if there is one. */
async function listRedirects(
  { readDocument }: FakeIssuerOptions,
  clientId: string,
): Promise<readonly Json[]> {
  if (readDocument === undefined || !clientId.startsWith('https://')) return [];
  const document = await readDocument(clientId);
  const redirects = at(document, 'redirect_uris');
  const isOwn = at(document, 'client_id') === clientId;
  return isOwn && Array.isArray(redirects) ? (redirects as readonly Json[]) : [];
}

function faultOf(options: FakeIssuerOptions, asked: URLSearchParams): string | undefined {
  const { resource = 'ignored', requiredParameters = {}, unknownScopes = [] } = options;
  if (asked.get('code_challenge_method') !== 'S256') return 'invalid_request';
  if (resource === 'refused' && asked.has('resource')) return 'invalid_target';
  if (resource === 'required' && !asked.has('resource')) return 'invalid_target';
  if (Object.entries(requiredParameters).some(([name, value]) => asked.get(name) !== value))
    return 'invalid_request';
  const scopes = (asked.get('scope') ?? '').split(' ');
  return unknownScopes.some((scope) => scopes.includes(scope)) ? 'invalid_scope' : undefined;
}

function issOf({ options, origin }: State): string | undefined {
  const own = String(documentOf(options, origin)['issuer']);
  return { right: own, wrong: 'https://evil.example', with_slash: `${own}/`, absent: undefined }[
    options.iss ?? 'right'
  ];
}

function newCode({ options, codes }: State, asked: URLSearchParams): string {
  const { refreshTokens = 'always' } = options;
  const scope = asked.get('scope') ?? '';
  const hasRefresh = {
    always: true,
    never: false,
    access_type: asked.get('access_type') === 'offline',
    offline_access: scope.split(' ').includes('offline_access'),
  }[refreshTokens];
  const code = newSecret('code');
  codes.set(code, {
    scope,
    hasRefresh,
    clientId: asked.get('client_id') ?? '',
    resource: asked.get('resource') ?? undefined,
    challenge: asked.get('code_challenge') ?? '',
    redirectUri: asked.get('redirect_uri') ?? '',
    isRevoked: false,
  });
  return code;
}

function token(
  state: State,
  given: Readonly<Record<string, string>>,
  response: ServerResponse,
  record: (error?: string) => void,
): void {
  const { failure } = state;
  const grants: Readonly<Record<string, (state: State, given: Readonly<Record<string, string>>) => Issued>> =
    {
      refresh_token: refresh,
      client_credentials: grantToClient,
    };
  const done = failure ?? (grants[given['grant_type'] ?? ''] ?? redeem)(state, given);
  if ('error' in done) {
    record(done.error);
    return sendJson(response, failure?.status ?? 400, { error: done.error });
  }
  record();
  const { grant, refreshToken } = done;
  const access = newSecret('access');
  const seconds = state.options.tokenSeconds ?? 3_600;
  state.accessTokens.set(access, { grant, endMs: Date.now() + seconds * 1_000 });
  sendJson(response, 200, {
    access_token: access,
    token_type: 'Bearer',
    expires_in: seconds,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  });
}

type Issued =
  { readonly grant: Grant; readonly refreshToken: string | undefined } | { readonly error: string };

function grantToClient(
  { options }: State,
  { client_id: clientId = '', scope = '', resource }: Readonly<Record<string, string>>,
): Issued {
  if (options.credentials === undefined) return { error: 'unauthorized_client' };
  if (options.resource === 'required' && resource === undefined) return { error: 'invalid_target' };
  return { grant: { scope, clientId, resource, isRevoked: false }, refreshToken: undefined };
}

function redeem(state: State, given: Readonly<Record<string, string>>): Issued {
  const code = state.codes.get(given['code'] ?? '');
  state.codes.delete(given['code'] ?? '');
  const challenge = createHash('sha256')
    .update(given['code_verifier'] ?? '')
    .digest('base64url');
  if (code?.challenge !== challenge || code.redirectUri !== given['redirect_uri'])
    return { error: 'invalid_grant' };
  const { resource = 'ignored' } = state.options;
  if (resource === 'refused' && given['resource'] !== undefined) return { error: 'invalid_target' };
  if (resource === 'required' && given['resource'] !== code.resource) return { error: 'invalid_target' };
  return { grant: code, refreshToken: code.hasRefresh ? newRefresh(state, code) : undefined };
}

function refresh(state: State, given: Readonly<Record<string, string>>): Issued {
  const { resource = 'ignored', requiresScopeAtRefresh = false, rotation = 'rotates' } = state.options;
  const used = state.refreshTokens.get(given['refresh_token'] ?? '');
  if (used === undefined || used.grant.isRevoked) return { error: 'invalid_grant' };
  if (resource.startsWith('refused') && given['resource'] !== undefined) return { error: 'invalid_target' };
  if (resource === 'required' && given['resource'] !== used.grant.resource)
    return { error: 'invalid_target' };
  if (requiresScopeAtRefresh && given['scope'] === undefined) return { error: 'invalid_request' };
  if (used.isUsed) {
    if (rotation === 'revokes_family') used.grant.isRevoked = true;
    return { error: 'invalid_grant' };
  }
  if (rotation === 'none') return { grant: used.grant, refreshToken: undefined };
  used.isUsed = true;
  return { grant: used.grant, refreshToken: newRefresh(state, used.grant) };
}

function newRefresh({ refreshTokens }: State, grant: Grant): string {
  const refreshToken = newSecret('refresh');
  refreshTokens.set(refreshToken, { grant, isUsed: false });
  return refreshToken;
}

function register({ options, clients }: State, body: string, response: ServerResponse): void {
  const { registration = 'open' } = options;
  if (registration === 'refused') return sendJson(response, 422, { error: 'invalid_client_metadata' });
  const given = JSON.parse(body) as {
    readonly redirect_uris: readonly string[];
    readonly application_type?: string;
  };
  if (given.application_type !== 'native')
    return sendJson(response, 400, { error: 'invalid_client_metadata' });
  const clientId = newSecret('client');
  clients.set(clientId, given.redirect_uris);
  sendJson(response, 201, {
    ...(given as unknown as JsonObject),
    client_id: clientId,
    ...(registration === 'with_secret' && {
      client_secret: newSecret('secret'),
      token_endpoint_auth_method: 'client_secret_basic',
    }),
    ...(registration === 'with_other_redirect' && { redirect_uris: ['https://other.example/callback'] }),
  });
}

function revoke({ refreshTokens, accessTokens }: State, text: string, response: ServerResponse): void {
  const grant = refreshTokens.get(text)?.grant ?? accessTokens.get(text)?.grant;
  if (grant !== undefined) grant.isRevoked = true;
  response.writeHead(200).end();
}

function newSecret(kind: string): string {
  return `${kind}-${randomBytes(12).toString('hex')}`;
}

function sendJson(response: ServerResponse, status: number, value: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

import type { OAuthClientMetadata, OAuthTokens } from '@modelcontextprotocol/client';
import type { CarefulFetch } from '@assay-mcp/kit/platform/careful-fetch';
import { quote } from '@assay-mcp/kit/printable';
import { truncateText } from '@assay-mcp/kit/shorten';
import { isLoopbackName } from '../../core/auth-settings.ts';
import { isClientDocumentUrl } from '../../core/own-client.ts';
import type { AuthSpec } from '../../core/server-spec.ts';
import { getClientAuthentication } from './client-authentication.ts';
import type { HeldClient } from './credential-content.ts';
import type { Discovered } from './discovery.ts';
import { SignInFault } from './sign-in-answer.ts';

/** One authorization request with PKCE (RFC 6749, section 4.1; RFC 7636), and how its code is exchanged. */
export interface FlowOptions {
  readonly auth: AuthSpec;
  readonly discovered: Discovered;
  /** Where the browser is redirected, exactly as it is sent. */
  readonly redirectUrl: string;
  readonly state: string;
  readonly scope: string | undefined;
  /** RFC 8707. Undefined: none is sent. */
  readonly resource: string | undefined;
  /** URL of the client metadata document, if the issuer supports them. */
  readonly document: string | undefined;
  /** An earlier registration for this issuer and redirect URL. */
  readonly registered: HeldClient | undefined;
  readonly version: string;
  readonly fetching: CarefulFetch;
}

/** A request that the user has to approve. */
export interface Flow {
  readonly options: FlowOptions;
  readonly client: HeldClient;
  readonly address: string;
  readonly verifier: string;
}

/** Registers Assay if needed, and builds the address for the browser. */
export async function beginFlow(options: FlowOptions): Promise<Flow> {
  const { auth, discovered, redirectUrl, state, scope, resource } = options;
  const { startAuthorization } = await import('@modelcontextprotocol/client');
  const client = findClient(options) ?? (await register(options));
  const { authorizationUrl: url, codeVerifier } = await startAuthorization(discovered.authorizationServer, {
    ...(discovered.metadata && { metadata: discovered.metadata }),
    clientInformation: client,
    redirectUrl,
    state,
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
  });
  for (const [name, value] of Object.entries(auth.parameters ?? {})) url.searchParams.set(name, value);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new SignInFault('the sign-in address is not a web address');
  return { options, client, address: url.href, verifier: codeVerifier };
}

/** The configured client, the one of a metadata document, or an earlier registration. */
function findClient({ auth, discovered, document, registered }: FlowOptions): HeldClient | undefined {
  const { clientId, clientSecret } = auth;
  if (clientId === undefined)
    return document === undefined ? registered : { client_id: document, redirectUrl: undefined };
  if (isClientDocumentUrl(clientId) && !supportsDocuments(discovered)) return registered;
  return {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    redirectUrl: undefined,
  };
}

/** Whether an issuer accepts the URL of a client metadata document as a client id. */
export function supportsDocuments({ metadata }: Discovered): boolean {
  return metadata?.client_id_metadata_document_supported === true;
}

/** Dynamic registration (RFC 7591). What the response says of redirect URLs is ignored. */
async function register(options: FlowOptions): Promise<HeldClient> {
  const { discovered, scope, redirectUrl, fetching } = options;
  const { authorizationServer, metadata } = discovered;
  const { registerClient, RegistrationRejectedError } = await import('@modelcontextprotocol/client');
  if (metadata !== undefined && metadata.registration_endpoint === undefined)
    throw new SignInFault(`the issuer registers no clients by itself; ${BY_HAND}`);
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- most issuers have no other way
  const answer = await registerClient(authorizationServer, {
    ...(metadata && { metadata }),
    clientMetadata: describeClient(options),
    ...(scope !== undefined && { scope }),
    fetchFn: (target, init) => fetching.fetch(target, init),
  }).catch((error: unknown) => {
    if (!(error instanceof RegistrationRejectedError)) throw error;
    const where = metadata === undefined ? `. No metadata was found: ${discovered.misses.join('; ')}` : '';
    throw new SignInFault(`the issuer does not register Assay (HTTP ${error.status}); ${BY_HAND}${where}`);
  });
  const { client_id, client_secret, token_endpoint_auth_method: method, scope: allowed } = answer;
  return {
    client_id,
    ...(client_secret !== undefined && { client_secret }),
    ...(method !== undefined && { token_endpoint_auth_method: method }),
    ...(allowed !== undefined && { scope: allowed }),
    redirectUrl,
  };
}

const BY_HAND =
  'register it there with a redirect URI such as "http://127.0.0.1:8765/callback", and set "auth": { "clientId": "…", "redirectUri": "…" } in the config entry of the server';

function describeClient({ discovered, redirectUrl, auth, version }: FlowOptions): OAuthClientMetadata {
  const methods = discovered.metadata?.token_endpoint_auth_methods_supported ?? ['none'];
  return {
    client_name: 'Assay',
    software_id: 'assay-mcp',
    software_version: version,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: isLoopbackName(URL.parse(redirectUrl)?.hostname ?? '') ? 'native' : 'web',
    // A local program cannot keep a secret from its user, so it avoids having one if possible.
    token_endpoint_auth_method: METHODS.find((method) => methods.includes(method)) ?? 'none',
    ...(auth.scope !== undefined && { scope: auth.scope }),
  };
}

const METHODS: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post'];

/** The error code with which the authorization server refused the request. */
export class AuthorizationRefused extends SignInFault {
  readonly code: string;

  constructor(code: string, description: string | null) {
    const more = description === null ? '' : ` (${quote(truncateText(description, 200))})`;
    super(`the issuer refused: ${quote(truncateText(code, 100))}${more}`);
    this.code = code;
  }
}

/** Exchanges the code for tokens. Throws AuthorizationRefused if there is none. */
export async function finishFlow(flow: Flow, answer: URLSearchParams): Promise<OAuthTokens> {
  const { discovered, redirectUrl, resource, fetching } = flow.options;
  const { exchangeAuthorization } = await import('@modelcontextprotocol/client');
  const [code, iss] = [answer.get('code'), answer.get('iss') ?? undefined];
  // An error response, too, is trusted only from the issuer that was asked (RFC 9207, section 2.4).
  await checkIss(iss, discovered);
  if (code === null)
    throw new AuthorizationRefused(answer.get('error') ?? '', answer.get('error_description'));
  return exchangeAuthorization(discovered.authorizationServer, {
    ...(discovered.metadata && { metadata: discovered.metadata }),
    clientInformation: flow.client,
    authorizationCode: code,
    ...(iss !== undefined && { iss }),
    codeVerifier: flow.verifier,
    redirectUri: redirectUrl,
    ...(resource !== undefined && { resource }),
    ...getClientAuthentication(flow.options.auth, flow.client),
    fetchFn: (target, init) => fetching.fetch(target, init),
  });
}

/** `iss` is compared as it is, without any normalization (RFC 9207, section 2.4). */
async function checkIss(iss: string | undefined, { issuer, metadata }: Discovered): Promise<void> {
  const { validateAuthorizationResponseIssuer } = await import('@modelcontextprotocol/client');
  if (issuer === undefined && iss !== undefined)
    throw new SignInFault(
      `the answer comes from the issuer ${quote(truncateText(iss, 200))}, and none is known; if it is the right one, set "auth.issuer" to it`,
    );
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  });
}

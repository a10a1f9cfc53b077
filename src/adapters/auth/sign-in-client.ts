import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import type { AuthSpec } from '../../core/server-spec.ts';
import type { HeldClient } from './credential-content.ts';

export interface SignInClientOptions {
  readonly auth: AuthSpec;
  /** Where the browser is redirected. */
  readonly redirectUrl: string;
  readonly state: string;
  /** Result of the discovery. */
  readonly discovered: OAuthDiscoveryState;
  /** An earlier registration, if it is for this issuer and redirect URL. */
  readonly registered: HeldClient | undefined;
  readonly version: string;
}

/** The client state that the SDK's flow needs for one sign-in. The caller reads the results at the end. */
export class SignInClient implements OAuthClientProvider {
  readonly #options: SignInClientOptions;
  #client: StoredOAuthClientInformation | undefined;
  #verifier = '';
  /** The URL that the user must open. */
  address: URL | undefined;
  obtained: OAuthTokens | undefined;

  constructor(options: SignInClientOptions) {
    this.#options = options;
  }

  get redirectUrl(): string {
    return this.#options.redirectUrl;
  }

  /** A client id that is a URL names a client metadata document. If the issuer supports none, Assay registers. */
  get clientMetadataUrl(): string {
    const { clientId = '' } = this.#options.auth;
    return isDocument(clientId) ? clientId : '';
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl, discovered, auth, version } = this.#options;
    const methods = discovered.authorizationServerMetadata?.token_endpoint_auth_methods_supported ?? ['none'];
    return {
      client_name: 'Assay',
      software_id: 'assay-mcp',
      software_version: version,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // A local program cannot keep a secret from its user, so it avoids having one if possible.
      token_endpoint_auth_method: METHODS.find((method) => methods.includes(method)) ?? 'none',
      ...(auth.scope !== undefined && { scope: auth.scope }),
    };
  }

  /** The client as registered with the issuer. */
  get held(): HeldClient | undefined {
    const client = this.#client ?? this.#given('');
    if (client === undefined) return undefined;
    const { client_id, client_secret } = client;
    const method = 'token_endpoint_auth_method' in client ? client.token_endpoint_auth_method : undefined;
    const scope = 'scope' in client ? client.scope : undefined;
    const isRegistered = client_id !== this.#options.auth.clientId;
    return {
      client_id,
      ...(client_secret !== undefined && { client_secret }),
      ...(typeof method === 'string' && { token_endpoint_auth_method: method }),
      ...(typeof scope === 'string' && { scope }),
      redirectUrl: isRegistered ? this.#options.redirectUrl : undefined,
    };
  }

  state(): string {
    return this.#options.state;
  }

  clientInformation(context?: { readonly issuer: string }): StoredOAuthClientInformation | undefined {
    return this.#client ?? this.#given(context?.issuer ?? '');
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  /** A sign-in always obtains new tokens. */
  tokens(): undefined {
    return undefined;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.obtained = tokens;
  }

  redirectToAuthorization(address: URL): void {
    this.address = address;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  discoveryState(): OAuthDiscoveryState {
    return this.#options.discovered;
  }

  saveDiscoveryState(): void {
    // It was known before the flow began.
  }

  #given(issuer: string): StoredOAuthClientInformation | undefined {
    const { auth, registered } = this.#options;
    const { clientId, clientSecret } = auth;
    if (clientId !== undefined && !isDocument(clientId))
      return {
        client_id: clientId,
        ...(clientSecret !== undefined && { client_secret: clientSecret }),
        issuer,
      };
    return registered && { ...registered, issuer };
  }
}

const METHODS: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post'];

function isDocument(clientId: string): boolean {
  const url = URL.parse(clientId);
  return url !== null && url.protocol === 'https:' && url.pathname !== '/';
}

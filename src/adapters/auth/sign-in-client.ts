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
  /** Where the browser is to end. */
  readonly redirectUrl: string;
  readonly state: string;
  /** What was discovered already. */
  readonly discovered: OAuthDiscoveryState;
  /** A registration of before, where it is for this issuer and this redirect. */
  readonly registered: HeldClient | undefined;
  readonly version: string;
}

/** What the SDK's flow needs of a client, for one sign-in: nothing outlasts it but what is read from it at the end. */
export class SignInClient implements OAuthClientProvider {
  readonly #options: SignInClientOptions;
  #client: StoredOAuthClientInformation | undefined;
  #verifier = '';
  /** Where the person has to go. */
  address: URL | undefined;
  obtained: OAuthTokens | undefined;

  constructor(options: SignInClientOptions) {
    this.#options = options;
  }

  get redirectUrl(): string {
    return this.#options.redirectUrl;
  }

  /** A client id that is an address is that of a metadata document; where the issuer takes none, Assay is registered. */
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
      // A program on somebody's machine keeps no secret from them, so it wants none where it need not have one.
      token_endpoint_auth_method: METHODS.find((method) => methods.includes(method)) ?? 'none',
      ...(auth.scope !== undefined && { scope: auth.scope }),
    };
  }

  /** The client as it is known to the issuer. */
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

  /** Who signs in wants new ones. */
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

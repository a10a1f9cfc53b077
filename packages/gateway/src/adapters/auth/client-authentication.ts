import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import type { AuthSpec } from '../../core/server-spec.ts';
import { ASSERTION_TYPE, signClientAssertion } from './client-assertion.ts';
import { SignInFault } from './sign-in-answer.ts';
import type { HeldClient } from './credential-content.ts';

interface TokenRequest {
  readonly headers: Headers;
  readonly body: URLSearchParams;
}

/** What the SDK calls before it sends a token request. */
type AddClientAuthentication = (
  headers: Headers,
  body: URLSearchParams,
  url: string | URL,
  metadata?: AuthorizationServerMetadata,
) => void | Promise<void>;

/** For the SDK: undefined if it can authenticate the client itself, with its secret or without. */
export function getClientAuthentication(
  auth: AuthSpec | undefined,
  client: HeldClient,
): { readonly addClientAuthentication?: AddClientAuthentication } {
  if (auth?.tokenAuthMethod !== undefined)
    return { addClientAuthentication: (_headers, body) => addCertifiedId(auth, client, body) };
  if (auth?.privateKeyFile === undefined) return {};
  return {
    addClientAuthentication: (_headers, body, url, metadata) =>
      addAssertion(auth, { client, audience: metadata?.issuer ?? String(url) }, body),
  };
}

/** Authenticates the client of a request (RFC 6749, section 2.3; RFC 7523). */
export async function authenticateClient(
  auth: AuthSpec | undefined,
  {
    client,
    metadata,
    endpoint,
  }: {
    readonly client: HeldClient;
    readonly metadata: AuthorizationServerMetadata | undefined;
    readonly endpoint: string;
  },
  { headers, body }: TokenRequest,
): Promise<void> {
  if (auth?.tokenAuthMethod !== undefined) {
    addCertifiedId(auth, client, body);
    return;
  }
  if (auth?.privateKeyFile !== undefined)
    return addAssertion(auth, { client, audience: metadata?.issuer ?? endpoint }, body);
  const { selectClientAuthMethod } = await import('@modelcontextprotocol/client');
  const { client_id: id, client_secret: secret } = client;
  const method = selectClientAuthMethod(client, metadata?.token_endpoint_auth_methods_supported ?? []);
  if (method === 'client_secret_basic' && secret !== undefined)
    headers.set('authorization', `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`);
  else {
    body.set('client_id', id);
    if (method === 'client_secret_post' && secret !== undefined) body.set('client_secret', secret);
  }
}

/** The certificate of the connection authenticates the client (RFC 8705, section 2). */
function addCertifiedId(auth: AuthSpec, { client_id: clientId }: HeldClient, body: URLSearchParams): void {
  checkClient(auth, clientId);
  body.set('client_id', clientId);
}

/** A sign-in from before the credential was configured belongs to a client that its server may have named. */
function checkClient(auth: AuthSpec, clientId: string): void {
  if (clientId !== auth.clientId) throw new SignInFault('the sign-in is of another client; sign in again');
}

async function addAssertion(
  auth: AuthSpec,
  { client, audience }: { readonly client: HeldClient; readonly audience: string },
  body: URLSearchParams,
): Promise<void> {
  const clientId = client.client_id;
  checkClient(auth, clientId);
  body.set('client_id', clientId);
  body.set('client_assertion_type', ASSERTION_TYPE);
  body.set('client_assertion', await signClientAssertion(auth, { clientId, audience }));
}

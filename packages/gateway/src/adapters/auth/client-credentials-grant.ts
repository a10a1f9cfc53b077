import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { quote } from '@assay-mcp/kit/printable';
import { truncateText } from '@assay-mcp/kit/shorten';
import type { BearerChallenge } from '@assay-mcp/protocol/challenge';
import type { ReachRules } from '../../core/reach-rules.ts';
import { openFetchFor } from './authorization-server.ts';
import type { ServerUrl } from './server-url.ts';
import { authenticateClient } from './client-authentication.ts';
import { isSendable } from './credential-content.ts';
import { discover } from './discovery.ts';
import { SignInFault } from './sign-in-answer.ts';

export interface ClientCredentialsToken {
  readonly access: string;
  readonly expiresMs: number | undefined;
}

/**
 * Gets a token with the client credentials of an entry (RFC 6749, section 4.4; SEP-1046). Throws SignInFault or Unfetched.
 */
export async function requestClientCredentialsToken(
  asked: ServerUrl,
  challenge: BearerChallenge | undefined,
  rules: ReachRules,
): Promise<ClientCredentialsToken> {
  const { url, auth = {} } = asked;
  const { clientId, clientSecret } = auth;
  if (clientId === undefined) throw new SignInFault('there is no "auth.clientId"');
  const fetching = await openFetchFor(asked, rules);
  try {
    const { metadata, resource, misses } = await discover({ url, auth, challenge, fetching });
    if (metadata === undefined)
      throw new SignInFault(`the authorization server has no metadata (${misses.join('; ')})`);
    fetching.trustEndpoints(metadata);
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    // Nobody consents here, so the server must not choose what the token may do, nor get one that is good elsewhere.
    if (auth.scope !== undefined) body.set('scope', auth.scope);
    const target = auth.resource === false ? undefined : (auth.resource ?? resource?.resource ?? url.href);
    if (target !== undefined) body.set('resource', target);
    const client = {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      redirectUrl: undefined,
    };
    const headers = new Headers({ accept: 'application/json' });
    const endpoint = metadata.token_endpoint;
    await authenticateClient(auth, { client, metadata, endpoint }, { headers, body });
    return await readToken(await fetching.fetch(endpoint, { method: 'POST', headers, body }));
  } finally {
    await fetching.close();
  }
}

async function readToken(response: Response): Promise<ClientCredentialsToken> {
  const answer = parseJson(await response.text());
  const fields = isJsonObject(answer) ? answer : {};
  const { access_token: access, token_type: type, expires_in: seconds, error } = fields;
  if (!response.ok || typeof error === 'string') throw new SignInFault(formatError(response.status, fields));
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer';
  if (typeof access !== 'string' || !isBearer || !isSendable(access))
    throw new SignInFault('the issuer gave a token of a kind that Assay cannot send');
  const isTimed = typeof seconds === 'number' && seconds >= 0;
  return { access, expiresMs: isTimed ? Date.now() + seconds * 1_000 : undefined };
}

function formatError(
  status: number,
  { error, error_description: about }: Readonly<Record<string, unknown>>,
): string {
  if (typeof error !== 'string') return `the issuer answered HTTP ${status}`;
  const more = typeof about === 'string' ? ` (${quote(truncateText(about, 200))})` : '';
  return `the issuer answered ${quote(truncateText(error, 100))}${more}`;
}

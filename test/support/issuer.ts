import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { endLater } from './endings.ts';

export interface IssuerOptions {
  /** Lifetime of access tokens in seconds. */
  readonly tokenSeconds?: number;
  /** Clients known without registration. */
  readonly clients?: readonly Readonly<Record<string, unknown>>[];
  /** The metadata document of a client id that is a URL. */
  readonly document?: Readonly<Record<string, unknown>>;
  /** Whether open client registration is enabled. */
  readonly hasRegistration?: boolean;
  /** Scopes that tokens may have. */
  readonly scopes?: readonly string[];
  /** Whether resources can read access tokens; opaque ones only the issuer can read. */
  readonly tokenFormat?: 'opaque' | 'jwt';
}

/** A real third-party authorization server on this machine. */
export interface Issuer {
  readonly url: string;
  /** Requests received: method and path, plus the grant type of token requests. */
  readonly requests: readonly string[];
  countOf(request: string): number;
  /** Scopes and audience of a token. Undefined if it is not valid. */
  look(token: string): Promise<{ readonly scope: readonly string[]; readonly audience: string } | undefined>;
  /** Revokes an access token, and with `all` also its refresh token. */
  revoke(token: string, all: boolean): Promise<void>;
  /** While down, it answers 503. */
  setDown(isDown: boolean): void;
}

const SCOPES = ['tools:read', 'tools:write'];

export async function startIssuer(options: IssuerOptions = {}): Promise<Issuer> {
  const requests: string[] = [];
  let isDown = false;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, configurationOf(options));
  for (const event of ['grant.success', 'grant.error'])
    provider.on(event, (ctx) => {
      const { params } = (ctx as { oidc: { params?: { grant_type?: string } } }).oidc;
      requests.push(`${event === 'grant.success' ? 'granted' : 'denied'} ${params?.grant_type ?? ''}`);
    });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    if (isDown) {
      response.writeHead(503).end();
      return;
    }
    if (path !== '/token') requests.push(`${request.method} ${path}`);
    void answer(request, response);
  });
  return {
    url,
    requests,
    countOf: (wanted) => requests.filter((one) => one === wanted).length,
    async look(token) {
      const found = await provider.AccessToken.find(token);
      if (found === undefined) return undefined;
      return { scope: (found.scope ?? '').split(' '), audience: String(found.aud) };
    },
    async revoke(token, all) {
      const found = await provider.AccessToken.find(token);
      if (found === undefined) throw new Error('no such token');
      await found.destroy();
      if (all) await provider.RefreshToken.revokeByGrantId(found.grantId);
    },
    setDown: (down) => (isDown = down),
  };
}

function configurationOf({
  tokenSeconds = 3_600,
  clients = [],
  document,
  hasRegistration = true,
  scopes = SCOPES,
  tokenFormat = 'opaque',
}: IssuerOptions): Readonly<Record<string, unknown>> {
  return {
    clients,
    cookies: { keys: ['a key of the tests'] },
    scopes: ['openid', 'offline_access', ...scopes],
    responseTypes: ['code'],
    rotateRefreshToken: true,
    issueRefreshToken: () => Promise.resolve(true),
    pkce: { required: () => true },
    fetch: () =>
      Promise.resolve(
        new Response(JSON.stringify(document), { headers: { 'content-type': 'application/json' } }),
      ),
    ttl: {
      AccessToken: tokenSeconds,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
      RefreshToken: 86_400,
    },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: hasRegistration },
      revocation: { enabled: true },
      clientIdMetadataDocument: { enabled: document !== undefined, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: scopes.join(' '),
          audience: resource,
          accessTokenTTL: tokenSeconds,
          accessTokenFormat: tokenFormat,
          ...(tokenFormat === 'jwt' && { jwt: { sign: { alg: 'RS256' } } }),
        }),
      },
    },
  };
}

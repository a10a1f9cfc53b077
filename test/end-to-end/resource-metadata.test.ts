import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { textIn } from '../support/clients.ts';
import { send, type Headers } from '../support/http.ts';
import { startIssuer, type Issuer } from '../support/issuer.ts';
import { at, type Json } from '../support/json.ts';
import { modernSend } from '../support/modern.ts';
import { SIGNING_IN } from '../support/oauth-client.ts';
import { fixture } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

let issuer: Issuer;
let assay: Gateway;
let base: string;
beforeAll(async () => {
  issuer = await startIssuer({ scopes: ['mcp', 'read', 'admin'], tokenFormat: 'jwt' });
  assay = await startGateway({
    servers: { plain: fixture('plain') },
    env: { ASSAY_AUTH_ISSUER: issuer.url },
  });
  base = `http://127.0.0.1:${assay.port}`;
});

const get = (path: string, headers: Headers = {}): ReturnType<typeof send> =>
  send(`${base}${path}`, { method: 'GET', headers });

describe('protected resource metadata', () => {
  it('is served for each endpoint separately, without authentication', async () => {
    const endpoints = ['/mcp', '/mcp/all', '/mcp/configuration', '/mcp/servers/plain', '/mcp/toolsets/x'];
    for (const endpoint of ['', ...endpoints]) {
      const answer = await get(WELL_KNOWN + endpoint);
      expect([answer.status, answer.type, answer.json()]).toEqual([
        200,
        'application/json',
        {
          resource: `${base}${endpoint}`,
          authorization_servers: [issuer.url],
          scopes_supported: endpoint === '' ? ['read', 'admin', 'execute', 'mcp'] : ['mcp'],
          bearer_methods_supported: ['header'],
          resource_name: 'Assay',
        },
      ]);
    }
  });

  it('uses the host of the request only if it is a name of this machine with the right port', async () => {
    const resource = async (host: string): Promise<Json | undefined> =>
      at((await get(`${WELL_KNOWN}/mcp`, { host })).json(), 'resource');
    expect(await resource(`localhost:${assay.port}`)).toBe(`http://localhost:${assay.port}/mcp`);
    expect(await resource(`[::1]:${assay.port}`)).toBe(`http://[::1]:${assay.port}/mcp`);
    expect(await resource('localhost:1')).toBe(`${base}/mcp`);
    expect((await get(`${WELL_KNOWN}/mcp`, { host: 'evil.example' })).status).toBe(403);
    expect((await get(`${WELL_KNOWN}/mcp`, { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('is served regardless of the token, and only for endpoint paths', async () => {
    expect((await get(`${WELL_KNOWN}/mcp`, bearer('x'))).status).toBe(200);
    for (const path of ['/', '/nothing', '/mcp/nothing', '/mcp/servers/a/b', 'x', '/mcp/mcp'])
      expect([path, (await get(WELL_KNOWN + path)).status]).toEqual([path, path === '/' ? 200 : 404]);
    const posted = await send(`${base}${WELL_KNOWN}`, { body: '{}' });
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('is referenced in each challenge, with the required scope', async () => {
    const mcp = await modernSend(`${base}/mcp`, 'tools/list');
    expect(mcp.headers['www-authenticate']).toBe(
      `Bearer scope="mcp", resource_metadata="${base}${WELL_KNOWN}/mcp"`,
    );
    const wrong = await modernSend(`${base}/mcp/servers/plain`, 'tools/list', { headers: bearer('x') });
    expect(wrong.headers['www-authenticate']).toBe(
      `Bearer error="invalid_token", scope="mcp", resource_metadata="${base}${WELL_KNOWN}/mcp/servers/plain"`,
    );
    const rest = adminClient(assay);
    for (const [answer, scope] of [
      [await rest.get('/tools'), 'read'],
      [await rest.post('/tokens', {}), 'admin'],
      [await get('/metrics'), 'read'],
    ] as const)
      expect(answer.headers['www-authenticate']).toBe(
        `Bearer scope="${scope}", resource_metadata="${base}${WELL_KNOWN}"`,
      );
    const reader = adminClient(assay, await keepToken(assay.home, 'reader', { scopes: ['read'] }));
    const lacking = await reader.post('/tokens', {});
    expect(lacking.headers['www-authenticate']).toContain(`resource_metadata="${base}${WELL_KNOWN}"`);
  });

  it('does not exist without an issuer', async () => {
    const plain = await startGateway({ servers: {}, env: { ASSAY_MCP_ACCESS: 'token' } });
    for (const path of ['', '/mcp']) {
      const place = `http://127.0.0.1:${plain.port}${WELL_KNOWN}${path}`;
      expect((await send(place, { method: 'GET' })).status).toBe(404);
    }
    expect((await modernSend(plain.url, 'tools/list')).headers['www-authenticate']).toBe('Bearer');
  });
});

describe('an official client that knows only the URL', () => {
  it.each(SIGNING_IN)('signs its user in at the issuer and can call a tool: $label', async ({ signIn }) => {
    const signedIn = await signIn(`${base}/mcp/all`);
    const { searchParams, origin } = signedIn.authorization;
    expect([origin, searchParams.get('resource'), searchParams.get('scope')?.split(' ')[0]]).toEqual([
      issuer.url,
      `${base}/mcp/all`,
      'mcp',
    ]);
    expect(textIn(await signedIn.call('plain_label'))).toBe('plain');
    // The token was issued for that endpoint, so another one rejects it.
    const elsewhere = await modernSend(`${base}/mcp`, 'tools/list', {
      headers: bearer(signedIn.accessToken),
    });
    expect(elsewhere.status).toBe(401);
  });
});

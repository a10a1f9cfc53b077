import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { send, type Answer, type Headers } from '../support/http.ts';
import { startIssuer } from '../support/issuer.ts';
import { BOTH, initializeOf } from '../support/legacy.ts';
import { modernSend } from '../support/modern.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const APP = 'https://app.example';
const DEV = 'http://[::1]:5173';
const JSON_POST = { 'content-type': 'application/json', accept: BOTH };

let assay: Gateway;
let base: string;
let token: string;
beforeAll(async () => {
  const home = tempDir();
  token = await keepToken(home, 'page', { scopes: ['mcp', 'read'] });
  assay = await startGateway({
    servers: { plain: fixture('plain') },
    home,
    settings: { settings: { 'mcp.allowedOrigins': `${APP}, ${DEV}`, 'mcp.sse': true } },
  });
  base = `http://127.0.0.1:${assay.port}`;
});

const preflight = (path: string, headers: Headers = {}): Promise<Answer> =>
  send(`${base}${path}`, {
    method: 'OPTIONS',
    headers: { origin: APP, 'access-control-request-method': 'POST', ...headers },
  });

const corsOf = ({ headers }: Answer): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

const listed = (answer: Answer, name: string): readonly string[] =>
  String(answer.headers[name] ?? '').split(', ');

describe('a preflight of an allowed origin', () => {
  it.each(['/mcp', '/mcp/all', '/mcp/toolsets/none', '/sse'])(
    'at %s gets 204 without a token',
    async (path) => {
      const answer = await preflight(path, {
        'access-control-request-headers':
          'authorization,content-type,mcp-method,mcp-name,mcp-param-region,mcp-protocol-version,mcp-session-id,x-other',
      });
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': APP,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': expect.any(String) as string,
        'access-control-max-age': '600',
      });
      expect(answer.headers.vary).toBe('Origin');
      const allowed = listed(answer, 'access-control-allow-headers').map((name) => name.toLowerCase());
      expect(allowed).toEqual(expect.arrayContaining(['authorization', 'last-event-id', 'mcp-param-region']));
      expect(allowed).not.toContain('x-other');
      expect(allowed).not.toContain('*');
    },
  );

  it('repeats only names of headers that begin with Mcp-, within a bound', async () => {
    const of = async (asked: string): Promise<number> => {
      const answer = await preflight('/mcp', { 'access-control-request-headers': asked });
      return listed(answer, 'access-control-allow-headers').length;
    };
    const fixed = await of('');
    for (const [asked, more] of [
      ['mcp-param-a, MCP-Param-B', 2],
      ['xmcp-a,mcp,mcp-,cookie,*,mcp-a;b,mcp-a b', 0],
      [`mcp-${'a'.repeat(129)}`, 0],
      [Array.from({ length: 1_000 }, (_, n) => `mcp-param-${n}`).join(), 0],
    ] as const)
      expect([asked.slice(0, 60), await of(asked)]).toEqual([asked.slice(0, 60), fixed + more]);
  });

  it.each<readonly [string, Headers, number]>([
    ['another origin', { origin: 'https://app.example.evil.example' }, 403],
    ['the origin null', { origin: 'null' }, 403],
    ['a loopback page that is not listed', { origin: 'http://localhost:5173' }, 401],
    ['a foreign Host', { host: 'app.example' }, 403],
    ['two origins', { origin: [APP, APP] }, 400],
  ])('is refused without CORS headers for %s', async (_what, headers, status) => {
    const answer = await preflight('/mcp', headers);
    expect([answer.status, corsOf(answer)]).toEqual([status, {}]);
  });
});

describe('a request of an allowed origin', () => {
  it('is served with a token; the page can read the id of its session', async () => {
    for (const origin of [APP, DEV]) {
      const answer = await send(`${base}/mcp`, {
        headers: { ...JSON_POST, origin, ...bearer(token) },
        body: initializeOf('2025-11-25'),
      });
      expect([answer.status, corsOf(answer)]).toEqual([
        200,
        {
          'access-control-allow-origin': origin,
          'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate, Retry-After',
        },
      ]);
      expect(answer.headers['mcp-session-id']).toBeDefined();
      const modern = await modernSend(assay.url, 'tools/list', { headers: { origin, ...bearer(token) } });
      expect([modern.status, modern.headers['access-control-allow-origin']]).toEqual([200, origin]);
    }
  });

  it('needs a token though the endpoint is open to programs; the refusal can be read', async () => {
    const headers = { origin: APP };
    expect((await modernSend(assay.url, 'tools/list')).status).toBe(200);
    const none = await modernSend(assay.url, 'tools/list', { headers });
    expect([none.status, none.headers['www-authenticate'], corsOf(none)]).toEqual([
      401,
      'Bearer',
      expect.objectContaining({ 'access-control-allow-origin': APP }),
    ]);
    const cookie = await modernSend(assay.url, 'tools/list', {
      headers: { ...headers, cookie: `assay_session_${assay.port}=${token}` },
    });
    expect(cookie.status).toBe(401);
  });

  it.each(['/health', '/metrics', '/events', '/tools', '/gateways', '/openapi.json', '/docs', '/admin', '/'])(
    'has no effect at %s, with and without a preflight',
    async (path) => {
      const before = await preflight(path, bearer(token));
      const answer = await send(`${base}${path}`, {
        method: 'GET',
        headers: { origin: APP, ...bearer(token) },
      });
      expect([before.status === 204, corsOf(before), corsOf(answer)]).toEqual([false, {}, {}]);
      const isPublic = ['/openapi.json', '/docs', '/admin', '/'].includes(path);
      if (!isPublic) expect(answer.status).toBe(403);
    },
  );
});

it('metadata can be read by a page of an allowed origin, and by no other', async () => {
  const { url: issuer } = await startIssuer({ scopes: ['mcp'], tokenFormat: 'jwt' });
  const own = await startGateway({
    env: { ASSAY_AUTH_ISSUER: issuer, ASSAY_MCP_ALLOWED_ORIGINS: APP },
  });
  const at = `http://127.0.0.1:${own.port}/.well-known/oauth-protected-resource`;
  const get = (url: string, headers: Headers): Promise<Answer> => send(url, { method: 'GET', headers });
  const read = await get(`${at}/mcp`, { origin: APP });
  expect([read.status, read.headers['access-control-allow-origin'], read.headers.vary]).toEqual([
    200,
    APP,
    'Host, Origin',
  ]);
  const asked = await send(`${at}/mcp`, {
    method: 'OPTIONS',
    headers: { origin: APP, 'access-control-request-method': 'GET' },
  });
  expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([204, APP]);
  expect((await get(`${at}/mcp`, { origin: 'https://b.example' })).status).toBe(403);
  expect(corsOf(await get(`${at}/nothing`, { origin: APP }))).toEqual({});
  const challenged = await modernSend(own.url, 'tools/list', { headers: { origin: APP } });
  expect(challenged.headers['www-authenticate']).toContain(`resource_metadata="${at}/mcp/all"`);
  // Without an issuer, the page learns that there is no sign-in.
  const none = await get(`${base}/.well-known/oauth-authorization-server`, { origin: APP });
  expect([none.status, none.headers['access-control-allow-origin']]).toEqual([404, APP]);
});

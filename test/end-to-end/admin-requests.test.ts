import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import { startAssay, type Assay } from '../support/assay.ts';
import { sendBytes, type Headers } from '../support/http.ts';
import { at, listAt, type Json } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { forged, keepToken } from '../support/tokens.ts';

let assay: Assay;
let admin: AdminClient;
let reader: AdminClient;
let client: AdminClient;
let adminToken: string;
beforeAll(async () => {
  const home = tempDir();
  adminToken = await keepToken(home, 'boss', { scopes: ['admin'] });
  const readerToken = await keepToken(home, 'reader', { scopes: ['read'] });
  const clientToken = await keepToken(home, 'client', { scopes: ['mcp'] });
  assay = await startAssay({ servers: {}, home });
  admin = adminClient(assay, adminToken);
  reader = adminClient(assay, readerToken);
  client = adminClient(assay, clientToken);
});

describe('the REST API', () => {
  it('requires a token on loopback too, although MCP is open there', async () => {
    const none = await adminClient(assay).get('/tokens');
    expect([verdictOf(none), none.headers['www-authenticate']]).toEqual(['401 TOKEN_REQUIRED', 'Bearer']);
    const bad = await adminClient(assay, forged(adminToken)).get('/tokens');
    expect([verdictOf(bad), bad.headers['www-authenticate']]).toEqual([
      '401 TOKEN_REQUIRED',
      'Bearer error="invalid_token"',
    ]);
  });

  it('answers 404 without a token too, so that no client looks for one in vain', async () => {
    for (const path of ['/nothing', '/', '/sse', '/.well-known/oauth-protected-resource', '/tokens/a/b'])
      expect(verdictOf(await adminClient(assay).post(path, {}))).toBe('404 ENDPOINT_UNKNOWN');
    expect(verdictOf(await adminClient(assay).put('/tokens', {}))).toBe('401 TOKEN_REQUIRED');
  });

  it('allows reads with the read scope, and writes with the admin scope only', async () => {
    const input = { name: 'x', scopes: ['read'] };
    expect(verdictOf(await admin.get('/tokens'))).toBe('200');
    expect(verdictOf(await reader.get('/tokens'))).toBe('200');
    const lacking = await reader.post('/tokens', input);
    expect([verdictOf(lacking), lacking.headers['www-authenticate']]).toEqual([
      '403 SCOPE_MISSING',
      'Bearer error="insufficient_scope", scope="admin"',
    ]);
    expect(verdictOf(await client.get('/tokens'))).toBe('403 SCOPE_MISSING');
    expect(verdictOf(await reader.delete('/tokens/0f3a5c7e9b1d'))).toBe('403 SCOPE_MISSING');
  });

  it('refuses foreign hosts and pages, in its usual error format', async () => {
    const from = async (headers: Headers): Promise<string> => verdictOf(await admin.get('/tokens', headers));
    expect(await from({ host: 'evil.example' })).toBe('403 HOST_FORBIDDEN');
    expect(await from({ origin: 'https://evil.example' })).toBe('403 ORIGIN_FORBIDDEN');
    expect(await from({ origin: `http://127.0.0.1:${assay.port}` })).toBe('200');
  });
});

describe('an error', () => {
  it('is a problem document that says what happened and what it concerns', async () => {
    const answer = await admin.get('/tokenz');
    expect([answer.status, answer.type, answer.json()]).toEqual([
      404,
      'application/problem+json',
      {
        type: '/docs/errors#ENDPOINT_UNKNOWN',
        title: 'Endpoint unknown',
        status: 404,
        detail: expect.stringContaining('There is no endpoint "/tokenz". Known endpoints: '),
        instance: '/tokenz',
        code: 'ENDPOINT_UNKNOWN',
      },
    ]);
  });

  it('lists the methods of a path', async () => {
    const answer = await admin.put('/tokens', {});
    expect([verdictOf(answer), answer.headers.allow]).toEqual([
      '405 HTTP_METHOD_UNKNOWN',
      'GET, POST, HEAD, OPTIONS',
    ]);
    const options = await admin.ask('OPTIONS', '/tokens/');
    expect([options.status, options.headers.allow, options.text]).toEqual([
      204,
      'GET, POST, HEAD, OPTIONS',
      '',
    ]);
    expect(verdictOf(await admin.get('/tokens/0f3a5c7e9b1d'))).toBe('405 HTTP_METHOD_UNKNOWN');
    const head = await admin.ask('HEAD', '/tokens');
    expect([head.status, head.type, head.text]).toEqual([200, 'application/json', '']);
  });

  it.each<[string, unknown, Headers, string]>([
    ['a form', 'name=x', { 'content-type': 'application/x-www-form-urlencoded' }, '415 MEDIA_TYPE_UNKNOWN'],
    ['no type', '{}', { 'content-type': '' }, '415 MEDIA_TYPE_UNKNOWN'],
    ['a packed body', '{}', { 'content-encoding': 'gzip' }, '415 MEDIA_TYPE_UNKNOWN'],
    ['an empty body', '', {}, '400 BODY_NOT_JSON'],
    ['half a body', '{"name":', {}, '400 BODY_NOT_JSON'],
    ['what is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, '400 BODY_NOT_JSON'],
    ['a list', [], {}, '422 BODY_INVALID'],
    ['null', null, {}, '422 BODY_INVALID'],
    ['a bottomless body', '['.repeat(100_000) + ']'.repeat(100_000), {}, '422 BODY_INVALID'],
    ['too much', JSON.stringify({ name: 'x'.repeat(5_000_000) }), {}, '413 BODY_TOO_LARGE'],
  ])('distinguishes %s', async (_, body, headers, expected) => {
    const before = (await admin.get('/tokens')).text;
    expect(verdictOf(await admin.post('/tokens', body, headers))).toBe(expected);
    expect((await admin.get('/tokens')).text).toBe(before);
  });

  it('never quotes a body that could not be parsed', async () => {
    const answer = await admin.post('/tokens', '{"secret": hunter2}');
    expect(answer.text).not.toContain('hunter2');
  });

  it('is sent for a body without a length that does not end in time', async () => {
    const head = `POST /tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const said = await sendBytes(assay.port, [head, ...Array<string>(20).fill(chunk)], {
      pauseMs: 5,
      limitMs: 20_000,
    });
    expect(said).toContain('413');
    expect(said).toContain('BODY_TOO_LARGE');
  });

  it('is not sent if the client disconnected during its body', async () => {
    const head = `POST /tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
    await sendBytes(assay.port, [head, '{"name"'], { limitMs: 200 });
    await sendBytes(assay.port, [head, '{"name"'], { limitMs: 200, halfClose: true });
    expect(verdictOf(await admin.get('/tokens'))).toBe('200');
    expect(assay.stdout() + assay.stderr()).not.toMatch(/failed inside Assay|aborted|at .*\.js:/);
  });

  it('is sent for an unreadable request target', async () => {
    const said = await sendBytes(assay.port, [
      `GET /\\tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${adminToken}\r\nConnection: close\r\n\r\n`,
    ]);
    expect(said).toContain('400 Bad Request');
    expect(said).toContain('"code":"TARGET_INVALID"');
  });
});

describe('a body', () => {
  const errorsOf = async (body: unknown): Promise<readonly Json[]> => {
    const answer = await admin.post('/tokens', body);
    expect(verdictOf(answer)).toBe('422 BODY_INVALID');
    return listAt(answer.json(), 'errors');
  };

  it('may be wrapped, and use either spelling of names', async () => {
    const made = await admin.post('/tokens', {
      token: { name: 'wrapped', scopes: ['read'], expires_in: '1h' },
    });
    expect([made.status, at(made.json(), 'name'), at(made.json(), 'scopes')]).toEqual([
      201,
      'wrapped',
      ['read'],
    ]);
  });

  it('is refused with a pointer into it as sent', async () => {
    expect(await errorsOf({ token: { name: 'x', expires_at: 'tomorrow', scopes: ['read', 'all'] } })).toEqual(
      [
        {
          pointer: '/token/scopes/1',
          detail: 'it must be "admin", "execute", "read" or "mcp"',
          code: 'invalid',
        },
        { pointer: '/token/expires_at', detail: expect.any(String), code: 'invalid' },
      ],
    );
    expect(await errorsOf({})).toEqual([{ pointer: '/name', detail: 'it is missing', code: 'missing' }]);
    expect(await errorsOf([])).toEqual([{ pointer: '', detail: 'it must be an object', code: 'invalid' }]);
    expect(await errorsOf({ token: 7 })).toEqual([
      { pointer: '/token', detail: 'it must be an object', code: 'invalid' },
    ]);
  });

  it('with an unknown field is refused, and the nearest one is suggested', async () => {
    expect(await errorsOf({ name: 'x', scope: ['read'], 'a/b~c': 1 })).toEqual([
      { pointer: '/scope', detail: 'there is no such field; did you mean "scopes"', code: 'unknown' },
      {
        pointer: '/a~1b~0c',
        detail: 'there is no such field; there are name, scopes, expiresIn, expiresAt',
        code: 'unknown',
      },
    ]);
    expect(await errorsOf({ token: { name: 'x' }, team_id: null })).toEqual([
      { pointer: '/team_id', detail: 'there is no such field beside "token"', code: 'unknown' },
    ]);
  });

  it('with one field in two spellings is refused', async () => {
    expect(await errorsOf({ name: 'x', expiresIn: '1h', expires_in: '2h' })).toEqual([
      { pointer: '/expires_in', detail: 'it is given twice, under two spellings', code: 'twice' },
    ]);
  });

  it('cannot reach Object.prototype', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect(await errorsOf(`{"name": "x", ${JSON.stringify(name)}: {"scopes": ["execute"]}}`)).toMatchObject(
        [{ pointer: `/${name}`, code: 'unknown' }],
      );
  });
});

describe('a query', () => {
  it('is validated like a body', async () => {
    const errorsOf = async (query: string): Promise<Json | undefined> => {
      const answer = await admin.get(`/tokens?${query}`);
      expect(verdictOf(answer)).toBe('400 QUERY_INVALID');
      return at(answer.json(), 'errors');
    };
    const detail = 'it must be a whole number from 1 to 1000';
    for (const limit of ['0', '1001', '-1', '1.5', '1e2', '', 'x', ' 5', '9'.repeat(400)])
      expect(await errorsOf(`limit=${encodeURIComponent(limit)}`)).toEqual([
        { parameter: 'limit', detail, code: 'invalid' },
      ]);
    expect(await errorsOf('limit=1&limit=2')).toEqual([
      { parameter: 'limit', detail: 'it is given twice', code: 'twice' },
    ]);
    expect(await errorsOf('limt=1')).toEqual([
      { parameter: 'limt', detail: 'there is no such parameter; did you mean "limit"', code: 'unknown' },
    ]);
    expect(verdictOf(await admin.get('/tokens?cursor=nonsense'))).toBe('400 CURSOR_INVALID');
  });
});

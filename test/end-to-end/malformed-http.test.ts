import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { sleep } from '../support/endings.ts';
import { send, sendBytes } from '../support/http.ts';
import { at } from '../support/json.ts';
import { BOTH, openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { modernHeaders } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture } from '../support/paths.ts';

const LIMIT = 1_000_000;

describe('malformed input over HTTP gets the specified error, never a crash or a hang:', () => {
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    assay = await startGateway({
      servers: { plain: fixture('plain') },
      env: { ASSAY_MAX_BODY_BYTES: String(LIMIT) },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });
  afterEach(async () => {
    expect(await session.call('plain_label')).toBe('plain');
  });

  const head = (length: number | string, more = ''): string =>
    `POST /mcp/all HTTP/1.1\r\nHost: 127.0.0.1:${assay.port}\r\nContent-Type: application/json\r\nAccept: ${BOTH}\r\n` +
    `Mcp-Session-Id: ${session.id}\r\nMcp-Protocol-Version: 2025-11-25\r\n${more}Content-Length: ${length}\r\n\r\n`;

  const NOT_JSON: readonly string[] = [
    '',
    ' ',
    '{',
    '{"jsonrpc":"2.0"',
    'nonsense',
    '{"a":1}}',
    '{"a":01}',
    "{'a':1}",
    '{"a":1,}',
    '[1',
    '"\u0000"',
    '\ufeff{',
    '{"a":NaN}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":"\\ud8"}',
    '--',
    '1 2',
  ];
  it.each(NOT_JSON)('%j is not JSON: 400 and -32700', async (body) => {
    const answer = await session.post(body);
    expect([answer.status, at(answer.json(), 'error', 'code'), at(answer.json(), 'id') ?? null]).toEqual([
      400,
      -32700,
      null,
    ]);
  });

  const NOT_RPC: readonly string[] = [
    '1',
    '"x"',
    'null',
    'true',
    '{}',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":1,"method":7}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '{"jsonrpc":"2.0","id":[1],"method":"ping"}',
    '{"jsonrpc":"2.0","id":true,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    '{"jsonrpc":2.0,"id":1,"method":"ping"}',
  ];
  it.each(NOT_RPC)('%s is not a message: 400 and -32600', async (body) => {
    const answer = await session.post(body);
    expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32600]);
  });

  const BAD_PARAMS: readonly (readonly [string, string])[] = [
    ['tools/call', '[]'],
    ['tools/call', '"x"'],
    ['tools/call', '7'],
    ['tools/call', '{}'],
    ['tools/call', '{"name":7}'],
    ['tools/call', '{"name":null}'],
    ['tools/call', '{"name":["plain_echo"]}'],
    ['prompts/get', '{}'],
    ['resources/read', '{}'],
    ['resources/read', '{"uri":7}'],
    ['completion/complete', '{}'],
    ['completion/complete', '{"ref":{"type":"ref/none"}}'],
  ];
  it.each(BAD_PARAMS)('%s with the params %s gets -32602', async (method, params) => {
    const answer = await session.post(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
    expect([-32602, -32600]).toContain(at(answer.json(), 'error', 'code'));
  });

  it('a duplicate member never decides silently: it is refused, or both peers see the same', async () => {
    const bodies = [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"plain_counter"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain_label","name":"plain_counter","arguments":{}}}',
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"plain_label","arguments":{}}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain_label","n\\u0061me":"plain_counter","arguments":{}}}',
    ];
    for (const body of bodies) {
      const answer = await session.post(body);
      expect([400, 200]).toContain(answer.status);
      expect([-32600, -32602, -32700]).toContain(at(answer.json(), 'error', 'code'));
    }
  });

  it('a member name written with escapes is the member that it spells', async () => {
    const answer = await session.post(
      '{"jsonrpc":"2.0","id":1,"m\\u0065thod":"tools/call","params":{"n\\u0061me":"plain_l\\u0061bel","arguments":{}}}',
    );
    expect(textOf(answer.json())).toBe('plain');
  });

  it('invalid UTF-8 is refused with 400 and -32700', async () => {
    for (const bad of [
      Buffer.from([0xff]),
      Buffer.from([0xc0, 0xaf]),
      Buffer.from([0xed, 0xa0, 0x80]),
      Buffer.from([0xe2, 0x82]),
    ]) {
      const body = Buffer.concat([
        Buffer.from(
          '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain_echo","arguments":{"a":"',
        ),
        bad,
        Buffer.from('"}}}'),
      ]);
      const answer = await send(assay.url, { headers: session.headers, body });
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32700]);
    }
  });

  it('a body over the limit is refused with 413, whether its length was announced or not', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'y'.repeat(LIMIT) } });
    const announced = await sendBytes(assay.port, [head(body.length), body.slice(0, 1000)]);
    expect(announced).toMatch(/^HTTP\/1\.1 413 /);
    expect(announced).toContain('MESSAGE_TOO_LARGE');
    expect(announced).toContain(String(LIMIT));
    const chunks = Array.from({ length: 12 }, () => `186A0\r\n${'z'.repeat(100_000)}\r\n`);
    const chunked = await sendBytes(assay.port, [
      head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked'),
      ...chunks,
    ]);
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('a body of exactly the limit is accepted', async () => {
    const start = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"';
    const body = `${start}${'y'.repeat(LIMIT - start.length - 3)}"}}`;
    expect(body).toHaveLength(LIMIT);
    expect((await session.post(body)).status).toBe(200);
  });

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('%s nested 100,000 deep are refused with 400', async (_kind, open, close) => {
    const deep = open.repeat(100_000) + (open === '[' ? '' : '1') + close.repeat(100_000);
    const answer = await session.post(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain_echo","arguments":${deep}}}`,
    );
    expect(answer.status).toBe(400);
    expect([-32600, -32700]).toContain(at(answer.json(), 'error', 'code'));
  });

  it('a hundred levels are accepted', async () => {
    const deep = '['.repeat(100) + ']'.repeat(100);
    expect(await session.call('plain_echo', { a: JSON.parse(deep) as never })).toBe(`{"a":${deep}}`);
  });

  it('headers of more than 64 kB are refused with 431, a hundred headers are accepted', async () => {
    const big = await sendBytes(assay.port, [head(2, `X-Big: ${'a'.repeat(70_000)}\r\n`), '{}']);
    // The rest of the header is still on its way when the connection closes, so the sender may miss the response.
    expect(big === '' || big.startsWith('HTTP/1.1 431 ')).toBe(true);
    const many = Array.from({ length: 100 }, (_, n) => `X-${n}: 1\r\n`).join('');
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    expect(await sendBytes(assay.port, [head(ping.length, `${many}Connection: close\r\n`), ping])).toMatch(
      /^HTTP\/1\.1 200 /,
    );
  });

  it.each([
    ['/mcp', 'Host: evil.example'],
    ['/health', 'Host: 127.0.0.1'],
    ['/tokens', 'host: 127.0.0.1'],
    ['/mcp', `${'X: 1\r\n'.repeat(2_500)}Host: evil.example`],
    ['/mcp', 'Origin: http://localhost\r\nOrigin: http://evil.example'],
    ['/tokens', 'Authorization: Bearer a\r\nAuthorization: Bearer b'],
    ['/mcp/all', 'Mcp-Session-Id: a\r\nMcp-Session-Id: b'],
  ])('a request to %s with a duplicate header is refused with 400 (%#)', async (path, more) => {
    const text = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${assay.port}\r\n${more}\r\nConnection: close\r\n\r\n`;
    const answer = await sendBytes(assay.port, [text]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('HEADER_INVALID');
  });

  it.each([
    '/docs/../tokens',
    '/docs/%2e%2e/tokens',
    '/mcp/../tokens',
    '//tokens',
    '/docs\\..\\tokens',
    '/health#/tokens',
    'http://evil.example/tokens',
    '*',
  ])('the target %s is refused with 400, whatever path was meant', async (target) => {
    const text = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${assay.port}\r\nConnection: close\r\n\r\n`;
    const answer = await sendBytes(assay.port, [text]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('TARGET_INVALID');
  });

  it('a target that is a URL of Assay is treated like its path', async () => {
    const own = `127.0.0.1:${assay.port}`;
    const text = `GET http://${own}/he%61lth HTTP/1.1\r\nHost: ${own}\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(assay.port, [text])).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('garbage that is not HTTP gets 400 and a closed connection', async () => {
    for (const garbage of [
      '\u0016\u0003\u0001\u0002\u0000',
      'GET\r\n\r\n',
      'POST /mcp HTTP/9.9\r\n\r\n',
      'a'.repeat(5_000),
      '\r\n\r\n\r\nx y z\r\n\r\n',
    ]) {
      const answer = await sendBytes(assay.port, [garbage], { halfClose: true });
      expect(answer === '' || answer.startsWith('HTTP/1.1 4')).toBe(true);
    }
  });

  it('both length headers, or a wrong one, are refused: no request smuggling', async () => {
    const both = head(5).replace('Content-Length: 5', 'Content-Length: 5\r\nTransfer-Encoding: chunked');
    expect(await sendBytes(assay.port, [both, '0\r\n\r\nGET /x HTTP/1.1\r\n\r\n'])).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    expect(await sendBytes(assay.port, [head('-5'), 'hello'])).toMatch(/^HTTP\/1\.1 400 /);
    expect(await sendBytes(assay.port, [head('abc'), 'hello'])).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a slowly arriving body blocks nobody', async () => {
    const ping = '{"jsonrpc":"2.0","id":77,"method":"ping"}';
    const drip = sendBytes(assay.port, [head(ping.length, 'Connection: close\r\n'), ...ping.match(/./g)!], {
      pauseMs: 15,
      limitMs: 5_000,
    });
    const startMs = Date.now();
    expect(await session.call('plain_label')).toBe('plain');
    expect(Date.now() - startMs).toBeLessThan(scaledMs(500));
    expect(await drip).toContain('"id":77,"result":{}');
  });

  it('a half-closed connection still gets its response; a truncated body gets none and affects nothing', async () => {
    const ping = '{"jsonrpc":"2.0","id":78,"method":"ping"}';
    const whole = await sendBytes(assay.port, [head(ping.length), ping], { halfClose: true });
    expect(whole).toContain('"id":78,"result":{}');
    const cut = await sendBytes(assay.port, [head(5_000), '{"jsonrpc"'], { halfClose: true });
    expect(cut === '' || cut.startsWith('HTTP/1.1 400 ')).toBe(true);
  });

  it('a hundred idle connections block nobody', async () => {
    const idle = Array.from({ length: 100 }, () =>
      sendBytes(assay.port, ['POST /mcp/all HTTP/1.1\r\n'], { limitMs: 600 }),
    );
    await sleep(100);
    const startMs = Date.now();
    expect(await session.call('plain_label')).toBe('plain');
    expect(Date.now() - startMs).toBeLessThan(scaledMs(500));
    await Promise.all(idle);
  });

  it('an invalid message of a modern client gets the same', async () => {
    for (const [body, code] of [
      ['{', -32700],
      ['[]', -32600],
      ['[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600],
      ['7', -32600],
    ] as const) {
      const answer = await send(assay.url, { headers: modernHeaders('tools/list'), body });
      expect([body, answer.status, at(answer.json(), 'error', 'code')]).toEqual([body, 400, code]);
    }
  });
});

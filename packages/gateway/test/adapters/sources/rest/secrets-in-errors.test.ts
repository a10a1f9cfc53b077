// What a model is told about a failed request, and what it must not learn.
import { expect, it } from 'vitest';
import { textIn, callTool, toolsIn } from '../../../../../../test/support/openapi-source.ts';
import { operationOf } from '../../../../../../test/support/openapi-document.ts';
import { call, loopbackHttp, made, serveTool, shown, type Echo } from './serve-tool.ts';

const BOT = 'bot1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';

/** A server that echoes the whole request. */
function quoting(status: number): Promise<Echo> {
  return serveTool(({ url, headers }, response) => {
    const pair = /^Basic (.*)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const plain = Buffer.from(pair, 'base64').toString();
    response.writeHead(status).end([url, headers.authorization, plain, headers['x-key']].join(' '));
  });
}

it.each([
  [{ auth: { type: 'bearer', token: 'tok-en' } }, '/x [masked] '],
  [{ auth: { type: 'basic', username: 'ada', password: 'pa ss' } }, '/x [masked] [masked] '],
  [{ auth: { type: 'header', name: 'X-Key', value: 'k"ey' } }, '/x   [masked]'],
  [{ auth: { type: 'query', name: 'key', value: 'a b/c' } }, '/x?key=[masked]   '],
  [{ headers: { 'X-Key': 'fixed' } }, '/x   [masked]'],
  [{ headers: { accept: 'text/plain', 'x-key': 'one' } }, '/x   one'],
])('secrets stay masked even if an API echoes its request: %j', async (entry, quoted) => {
  const echo = await quoting(400);
  const text = shown(await call(echo.tool({ url: '/x', method: 'GET', ...entry }), '{}'));
  expect(text.trimEnd()).toBe(
    `error: GET ${echo.origin}/x: the server answered 400. It said:\n\n${quoted.trimEnd()}`,
  );
});

it('a successful result is passed on unchanged', async () => {
  const echo = await quoting(200);
  const entry = { url: `/${BOT}`, method: 'GET', auth: { type: 'bearer', token: 'tok-en' } };
  expect(shown(await call(echo.tool(entry), '{}'))).toBe(`/${BOT} Bearer tok-en  `);
});

it('a path is shown as configured, without arguments or anything that looks like a key', async () => {
  const url = `/${BOT}/send/{chat}/v1.2?token=abcdefgh12345678`;
  const echo = await quoting(404);
  const text = shown(await call(echo.tool({ url, method: 'GET' }), '{"chat":"someone"}'));
  expect(text).toContain(
    `error: GET ${echo.origin}/[masked]/send/{chat}/v1.2: the server answered 404. It said:`,
  );
  expect(text).toContain('/[masked]/send/someone/v1.2?token=[masked]');
  const unreachable = made({ url: `http://127.0.0.1:1${url}`, method: 'GET' }, loopbackHttp());
  expect(shown(await call(unreachable, '{"chat":"someone"}'))).toMatch(
    /^error: "http:\/\/127\.0\.0\.1:1\/\[masked\]\/send\/\{chat\}\/v1\.2" refuses connections/,
  );
});

it('OpenAPI tools mask secrets and show paths in the same way', async () => {
  const echo = await quoting(500);
  const components = { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'X-Key' } } };
  const document = operationOf(
    { path: '/pets/{id}', security: [{ k: [] }] },
    { components, servers: [{ url: `${echo.origin}/${BOT}` }] },
  );
  const { tools } = await toolsIn(document, { credentials: { k: 'secret-1' } });
  expect(textIn(await callTool(tools[0]!, { id: 'rex' })).trimEnd()).toBe(
    `ERROR GET ${echo.origin}/[masked]/pets/{id}: the server answered 500. It said:\n\n/[masked]/pets/rex   [masked]`,
  );
});

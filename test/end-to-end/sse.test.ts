import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { inTurns, textIn } from '../support/clients.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { openStream, send, type Stream } from '../support/http.ts';
import { at, namesAt, parseJson, type JsonObject } from '../support/json.ts';
import { initializeOf, openSession } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const SERVERS = {
  plain: fixture('plain'),
  slow: fixture('cancellable'),
  asks: fixture('asking', [], { isolation: 'session' }),
};
const PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}';

async function official(url: string): Promise<Client> {
  const client = new Client({ name: 'official', version: '1' }, { capabilities: { elicitation: {} } });
  endLater(() => client.close());
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { yes: true } }));
  await client.connect(inTurns(new SSEClientTransport(new URL(url))));
  return client;
}

interface RawClient {
  readonly stream: Stream;
  readonly address: string;
  /** The data of the event with this index; comments are no events. */
  event(index: number): Promise<string>;
  post(body: string, headers?: Readonly<Record<string, string>>): ReturnType<typeof send>;
}

/** Opens a stream of the HTTP+SSE transport without the SDK. */
async function open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<RawClient> {
  const stream = await openStream(url, {
    method: 'GET',
    headers: { accept: 'text/event-stream', ...headers },
  });
  const event = (index: number): Promise<string> =>
    until(`event ${index}`, () => stream.events.filter(({ data }) => data !== '')[index]?.data);
  const address = new URL(await event(0), url).href;
  const post: RawClient['post'] = (body, more = {}) =>
    send(address, { headers: { 'content-type': 'application/json', ...headers, ...more }, body });
  return { stream, address, event, post };
}

async function begin(url: string, headers: Readonly<Record<string, string>> = {}): Promise<RawClient> {
  const client = await open(url, headers);
  expect((await client.post(initializeOf('2025-11-25'))).status).toBe(202);
  expect(at(parseJson(await client.event(1)), 'result', 'protocolVersion')).toBe('2024-11-05');
  return client;
}

describe('a client of the older HTTP+SSE transport', () => {
  let assay: Gateway;
  let url: string;
  beforeAll(async () => {
    assay = await startGateway({
      servers: SERVERS,
      settings: { settings: { 'mcp.sse': true, 'limits.bodyBytes': 2_000 } },
    });
    await assay.settled();
    url = `http://127.0.0.1:${assay.port}/sse/all`;
  });

  it('gets the same list as other clients, calls tools, and receives progress and elicitations', async () => {
    const client = await official(url);
    const other = await openSession(assay.url);
    const shown = (await client.listTools()).tools.map(({ name }) => name);
    expect(shown).toEqual(namesAt(await other.ask('tools/list'), 'result', 'tools'));
    expect(textIn(await client.callTool({ name: 'plain_echo', arguments: { text: 'é\n' } }))).toContain('é');
    const steps: number[] = [];
    await client.callTool({ name: 'slow_steps', arguments: { steps: 3, intervalMs: 1 } }, undefined, {
      onprogress: ({ progress }) => steps.push(progress),
    });
    expect(steps).toEqual([1, 2, 3]);
    const question = {
      method: 'elicitation/create',
      params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
    };
    const asked = await client.callTool({ name: 'asks_ask', arguments: { rounds: [[question]] } });
    expect(textIn(asked)).toContain('"yes":true');
  });

  it('can connect to the endpoint of a single server and gets its tools', async () => {
    const client = await official(`http://127.0.0.1:${assay.port}/sse/servers/plain`);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
  });

  it('posts to the URL given by its stream; its session ends with the stream', async () => {
    const client = await begin(url);
    expect(client.address).toMatch(/\/sse\/all\?sessionId=[\da-f-]{36}$/);
    expect((await client.post(PING)).status).toBe(202);
    expect(parseJson(await client.event(2))).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    client.stream.cut();
    await until('the session has ended', async () =>
      (await client.post(PING)).status === 404 ? true : undefined,
    );
  });

  it('must initialize first, and only once', async () => {
    const client = await open(url);
    expect((await client.post(PING)).status).toBe(400);
    expect((await client.post(initializeOf('2024-11-05'))).status).toBe(202);
    expect((await client.post(initializeOf('2024-11-05'))).status).toBe(400);
  });

  it.each<readonly [string, string, JsonObject, number]>([
    ['that is not JSON', '{', {}, 400],
    ['over the size limit', JSON.stringify({ a: 'x'.repeat(2_000) }), {}, 413],
    ['with another media type', PING, { 'content-type': 'text/plain' }, 415],
    ['from a foreign origin', PING, { origin: 'https://evil.example' }, 403],
    ['with a foreign host name', PING, { host: 'evil.example' }, 403],
  ])('cannot send a message %s', async (_what, body, headers, status) => {
    const client = await begin(url);
    expect((await client.post(body, headers as Readonly<Record<string, string>>)).status).toBe(status);
  });

  it('cannot use a foreign origin, an unacceptable media type, another method or an unknown session', async () => {
    const from = (headers: Readonly<Record<string, string>>, method = 'GET') =>
      send(url, { method, headers });
    const accept = 'text/event-stream';
    expect((await from({ accept, origin: 'https://evil.example' })).status).toBe(403);
    expect((await from({ accept: 'text/html' })).status).toBe(406);
    expect((await from({}, 'DELETE')).status).toBe(405);
    expect(
      (await send(`${url}?sessionId=none`, { headers: { 'content-type': 'application/json' }, body: PING }))
        .status,
    ).toBe(404);
  });
});

it('a token can use only sessions that it started, and the number of open sessions is limited', async () => {
  const home = tempDir();
  const env = { ASSAY_MCP_ACCESS: 'token', ASSAY_MCP_SSE: 'true', ASSAY_LIMITS_SESSIONS: '1' };
  const assay = await startGateway({ home, env });
  const url = `http://127.0.0.1:${assay.port}/sse`;
  const [mine, theirs] = [await keepToken(home, 'mine'), await keepToken(home, 'theirs')];
  expect((await send(url, { method: 'GET', headers: { accept: 'text/event-stream' } })).status).toBe(401);
  const client = await until('the tokens hold', () => begin(url, bearer(mine)).catch(() => undefined));
  expect((await client.post(PING, bearer(theirs))).status).toBe(404);
  expect((await client.post(PING)).status).toBe(202);
  const accept = 'text/event-stream';
  expect((await send(url, { method: 'GET', headers: { accept, ...bearer(theirs) } })).status).toBe(503);
});

it('the HTTP+SSE transport is off by default', async () => {
  const assay = await startGateway();
  const asked = { method: 'GET', headers: { accept: 'text/event-stream' } };
  const url = `http://127.0.0.1:${assay.port}/sse`;
  const given = await send(url, asked);
  expect(given.status).toBe((await send(url.replace('/sse', '/elsewhere'), asked)).status);
  expect(given.type).not.toBe('text/event-stream');
});

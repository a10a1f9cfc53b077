import { beforeAll, describe, expect, it } from 'vitest';
import { startMade, type MadeHttp } from '../fixtures/http-made.ts';
import { startGateway } from '../support/gateway.ts';
import { serverIn, type Gateway } from '../support/assay.ts';
import { endLater, until } from '../support/endings.ts';
import { at, namesAt } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { startHttp } from '../fixtures/http.ts';
import { toolOf } from '../fixtures/peer.ts';

/** What servers and proxies send to keep a stream open, and what servers of the older transport send. */
const OTHER_EVENTS =
  'event: ping\ndata: 2026-11-29 04:00:00+00:00\n\nevent: heartbeat\ndata: {}\n\n' +
  'event: endpoint\ndata: /messages?session=1\n\nevent: keepalive\ndata\n\n' +
  'event: error\ndata: {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not a message"}}\n\n';

describe('events that are not messages', () => {
  let server: MadeHttp;
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    let tools = 1;
    server = await startMade({
      era: 'legacy',
      hasStream: true,
      wire: (response, text) =>
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(`${OTHER_EVENTS}event: message\ndata: ${text}\n\n${OTHER_EVENTS}`),
      own: ({ incoming, stream, write }) => {
        if (incoming.method === 'tools/list') {
          const listed = [toolOf('查询'), ...Array.from({ length: tools }, (_, n) => toolOf(`t${n}`))];
          write(JSON.stringify({ jsonrpc: '2.0', id: incoming.id, result: { tools: listed } }));
          return true;
        }
        if (at(incoming.params, 'name') === 't0') tools = 2;
        stream?.write(
          `${OTHER_EVENTS}event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":null}\n\n`,
        );
        return false;
      },
    });
    endLater(() => server.close());
    const sse = await startHttp('sse');
    endLater(() => sse.close());
    assay = await startGateway({
      servers: { pings: { url: server.url }, older: { type: 'sse', url: sse.url } },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  it('do not end a call whose answer is a stream, and are not taken for its answer', async () => {
    expect(await session.call('pings_t0', { a: 1 })).toBe('{"a":1}');
    expect(assay.stderr()).not.toMatch(/pings.*(not valid|invalid)/i);
  });

  it('do not end the stream of notifications', async () => {
    await session.call('pings_t0');
    await until('the second tool is there', async () =>
      namesAt(await session.ask('tools/list'), 'result', 'tools').includes('pings_t1') ? true : undefined,
    );
  });

  it('leave names in any script readable, and callable by the name before that too', async () => {
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toContain('pings_ChaXun');
    for (const name of ['pings_ChaXun', 'pings___']) {
      await session.call(name, { a: name });
      expect(at(server.seen.at(-1)?.params, 'name')).toBe('查询');
    }
  });

  it('name the address of a server of the older transport, as before', async () => {
    expect(at(serverIn(await assay.health(), 'older'), 'state')).toBe('up');
    expect(await session.call('older_echo', { b: 2 })).toBe('{"b":2}');
  });
});

describe('a client that writes null', () => {
  it('for params or for the cursor is understood as one that leaves it out', async () => {
    const assay = await startGateway({ servers: {} });
    const url = assay.url.replace('/mcp/all', '/mcp/configuration');
    const session = await openSession(url);
    const whole = namesAt(await session.ask('tools/list'), 'result', 'tools');
    expect(whole).toContain('list-available-tools');
    for (const params of ['null', '{"cursor":null}', '{"cursor": null ,"_meta":{}}']) {
      const answer = await session.post(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":${params}}`);
      expect([params, namesAt(answer.json(), 'result', 'tools')]).toEqual([params, whole]);
    }
  });
});

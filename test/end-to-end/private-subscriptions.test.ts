import { beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { startEverything } from '../support/everything.ts';
import { at, listAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernCall, modernAsk, modernStream } from '../support/modern.ts';
import { installed } from '../support/paths.ts';

// The server sends updates only to sessions that have subscribed and have called this tool.
const BEGIN = 'toggle-subscriber-updates';
const UPDATED = 'notifications/resources/updated';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

let port: number;
beforeAll(async () => {
  const [streamable, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
  const assay = await startGateway({
    servers: {
      line: { ...installed('everything'), isolation: 'session' },
      http: { url: `http://127.0.0.1:${streamable}/mcp` },
      sse: { type: 'sse', url: `http://127.0.0.1:${sse}/sse` },
    },
  });
  await assay.settled();
  ({ port } = assay);
});

describe('a server with one session per client', () => {
  it.for(['line', 'http', 'sse'])(
    'notifies only the legacy client that subscribed, behind %s',
    async (name) => {
      const url = `http://127.0.0.1:${port}/mcp/servers/${name}`;
      const [session, other] = await Promise.all([openSession(url), openSession(url)]);
      const [mine, others] = await Promise.all([session.listen(), other.listen()]);
      const uri =
        at(listAt(await session.ask('resources/list'), 'result', 'resources')[0] ?? null, 'uri') ?? '';
      expect(await session.ask('resources/subscribe', { uri })).toMatchObject({ result: {} });
      await session.call(BEGIN);
      const update = await mine.next('an update', (one) => at(one, 'method') === UPDATED);
      expect(at(update, 'params', 'uri')).toBe(uri);
      expect(others.messages().filter((one) => at(one, 'method') === UPDATED)).toEqual([]);
    },
  );

  it('notifies a modern client, whose calls and subscriptions share a session', async () => {
    const url = `http://127.0.0.1:${port}/mcp/servers/http`;
    const listed = await modernAsk(url, 'resources/list');
    const uri = at(listAt(listed, 'result', 'resources')[0] ?? null, 'uri') ?? '';
    const notifications = { resourceSubscriptions: [uri] };
    const stream = await modernStream(url, 'subscriptions/listen', { id: 'l', params: { notifications } });
    await stream.next('what it tells of', (one) => at(one, 'method') === ACKNOWLEDGED);
    await modernCall(url, BEGIN);
    const update = await stream.next('an update', (one) => at(one, 'method') === UPDATED);
    expect(at(update, 'params', 'uri')).toBe(uri);
  });
});

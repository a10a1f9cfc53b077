import { beforeAll, describe, expect, it } from 'vitest';
import { startNotifier } from '../fixtures/notifier-http.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import type { Stream } from '../support/http.ts';
import { at, parseJson, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { META, modernAsk, modernStream } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';

const UPDATED = 'notifications/resources/updated';
const isUpdate = (message: Json): boolean => at(message, 'method') === UPDATED;
const isAcknowledged = (message: Json): boolean =>
  at(message, 'method') === 'notifications/subscriptions/acknowledged';

/** How the same server is connected. Its URIs are the same each time, so each way has its own endpoint. */
const WAYS = ['legacy stdio', 'modern stdio', 'legacy http', 'modern http', 'sse'] as const;

describe.each(WAYS)('a server over %s', (way) => {
  let url: string;
  let session: LegacySession;
  let get: Stream;
  beforeAll(async () => {
    const assay = await startGateway({ servers: { s: await entryOf(way) } });
    await assay.settled();
    url = `http://127.0.0.1:${assay.port}/mcp/servers/s`;
    session = await openSession(url);
    get = await session.listen();
  });

  const listen = async (id: Json, uris: readonly string[]): Promise<Stream> => {
    const stream = await modernStream(url, 'subscriptions/listen', {
      id,
      params: { notifications: { resourceSubscriptions: uris } },
    });
    await stream.next('acknowledgement', isAcknowledged);
    return stream;
  };
  const subscribed = async (): Promise<Json> =>
    at(parseJson(await session.call('state')), 'subscribed') ?? null;
  const untilSubscribed = (uris: readonly string[]): Promise<unknown> =>
    until(`subscribed to ${uris.join()}`, async () =>
      JSON.stringify(await subscribed()) === JSON.stringify(uris) ? true : undefined,
    );

  it('declares subscriptions to clients of both eras', async () => {
    const expected = { subscribe: true, listChanged: true };
    expect(at(session.initialized, 'result', 'capabilities', 'resources')).toEqual(expected);
    const discovered = await modernAsk(url, 'server/discover');
    expect(at(discovered, 'result', 'capabilities', 'resources')).toEqual(expected);
  });

  it('notifies only the subscribers of a resource, with every member of its notification', async () => {
    const other = await openSession(url);
    const others = await other.listen();
    expect(await session.ask('resources/subscribe', { uri: 'note://one' })).toMatchObject({ result: {} });
    const mine = await listen('mine', ['note://one']);
    const two = await listen(2, ['note://two']);
    await session.call('touch', { uri: 'note://one' });
    await get.next('update', isUpdate);
    await mine.next('update', isUpdate);
    const [head, tail] = [
      `{"jsonrpc":"2.0","method":"${UPDATED}","params":{"uri":"note://one","_meta":{`,
      '"x/y": 1.0},"more":[ 12345678901234567890 ]},"odd":{}}',
    ];
    expect(get.events.at(-1)?.data).toBe(head + tail);
    const stamp = new RegExp(`^"${META}subscriptionId": ?"mine", ?$`);
    const data = mine.events.at(-1)?.data ?? '';
    expect([data.slice(0, head.length), data.slice(-tail.length)]).toEqual([head, tail]);
    expect(data.slice(head.length, -tail.length)).toMatch(stamp);
    await session.call('touch', { uri: 'note://two' });
    await two.next('update', isUpdate);
    await sleep(200);
    expect(others.messages()).toEqual([]);
    expect(get.messages().filter(isUpdate)).toHaveLength(1);
    expect(mine.messages().filter(isUpdate)).toHaveLength(1);
    expect(two.messages().filter(isUpdate)).toHaveLength(1);
    mine.cut();
    two.cut();
    await session.ask('resources/unsubscribe', { uri: 'note://one' });
    await untilSubscribed([]);
  });

  it('gets one subscription for several clients, which ends when the last one leaves', async () => {
    const others = await Promise.all([openSession(url), openSession(url)]);
    const before = await countOf('resources/subscribe note://dir');
    await Promise.all(others.map((one) => one.ask('resources/subscribe', { uri: 'note://dir' })));
    const stream = await listen('dir', ['note://dir']);
    await untilSubscribed(['note://dir']);
    expect((await countOf('resources/subscribe note://dir')) - before).toBe(way.startsWith('modern') ? 0 : 1);
    await others[0].ask('resources/unsubscribe', { uri: 'note://dir' });
    stream.cut();
    await sleep(150);
    expect(await subscribed()).toEqual(['note://dir']);
    await others[1].end();
    await untilSubscribed([]);
  });

  const countOf = async (name: string): Promise<number> =>
    Number(at(parseJson(await session.call('state')), 'seen', name) ?? 0);

  it('may report an update to a part of a subscribed resource', async () => {
    const stream = await listen('parts', ['note://dir']);
    await session.call('touch', { uri: 'note://dir/a.txt', of: 'note://dir' });
    expect(at(await stream.next('update', isUpdate), 'params', 'uri')).toBe('note://dir/a.txt');
    await session.call('touch', { uri: 'note://directory', of: 'note://dir' });
    await sleep(150);
    expect(stream.messages().filter(isUpdate)).toHaveLength(1);
    stream.cut();
    await untilSubscribed([]);
  });

  it('can refuse a subscription, which is reported to the client', async () => {
    const answer = await session.ask('resources/subscribe', { uri: 'note://forbidden' });
    if (way.startsWith('modern'))
      expect(at(answer, 'error', 'data', 'code')).toBe('SUBSCRIPTION_UNSUPPORTED');
    else
      expect(at(answer, 'error')).toEqual({
        code: -32077,
        message: 'Not this one',
        data: { why: 'forbidden' },
      });
    const unknown = await session.ask('resources/subscribe', { uri: 'other://x' });
    expect(at(unknown, 'error', 'code')).toBeUndefined();
    await session.ask('resources/unsubscribe', { uri: 'other://x' });
    const stream = await modernStream(url, 'subscriptions/listen', {
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ['note://forbidden', 'note://one'] },
      },
    });
    expect(at(await stream.next('acknowledgement', isAcknowledged), 'params', 'notifications')).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['note://one'],
    });
    stream.cut();
    await untilSubscribed([]);
  });
});

async function entryOf(way: (typeof WAYS)[number]): Promise<Record<string, Json>> {
  if (way.endsWith('stdio')) return fixture('notifier', [`--era=${way.slice(0, 6)}`]);
  const http = await startNotifier({
    era: way === 'modern http' ? 'modern' : 'legacy',
    isOld: way === 'sse',
  });
  endLater(() => http.close());
  return { type: way === 'sse' ? 'sse' : 'http', url: http.url, isolation: 'shared' };
}

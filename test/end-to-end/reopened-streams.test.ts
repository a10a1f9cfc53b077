import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startNotifier, type NotifierHttp } from '../fixtures/notifier-http.ts';
import { freePort, serverIn, type AssayOptions, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, kill, sleep, until } from '../support/endings.ts';
import type { Stream } from '../support/http.ts';
import { at, type Json, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk, modernStream } from '../support/modern.ts';
import { startShared, type SharedAssay } from '../support/shared-assay.ts';
import { fixture, openEventLog, tempDir, writeConfig } from '../support/paths.ts';

const isUpdate = (message: Json): boolean => at(message, 'method') === 'notifications/resources/updated';
const isChange = (message: Json): boolean => at(message, 'method') === 'notifications/tools/list_changed';
const isAcknowledged = (message: Json): boolean =>
  at(message, 'method') === 'notifications/subscriptions/acknowledged';

/** Waits until the stream has at least `count` messages that fit. */
function untilHas(stream: Stream, fits: (message: Json) => boolean, count: number): Promise<unknown> {
  return until(
    () => `${count} on the stream, which has ${JSON.stringify(stream.messages())}`,
    () => (stream.messages().filter(fits).length >= count ? true : undefined),
    15_000,
  );
}

type Place = Pick<Gateway, 'url' | 'health'>;

interface Listeners<T = Place> {
  readonly assay: T;
  readonly legacy: Stream;
  readonly modern: Stream;
}

let shared: Promise<SharedAssay> | undefined;
let servers = 0;

/** Adds a server to the shared Assay; returns the endpoint that lists only this server. */
async function addServer(entry: JsonObject): Promise<Place & { readonly name: string }> {
  const { assay, add } = await (shared ??= startShared());
  const name = `s${(servers += 1)}`;
  await add({ [name]: entry });
  return { name, url: assay.url.replace(/all$/, `servers/${name}`), health: () => assay.health() };
}

const httpEntry = ({ url }: NotifierHttp): JsonObject => ({ type: 'http', url, isolation: 'shared' });

async function ownAssay(options: AssayOptions): Promise<Gateway> {
  const assay = await startGateway(options);
  await assay.settled();
  return assay;
}

/** A legacy and a modern client, subscribed to the tools and one resource. */
async function listeners<T extends Place>(assay: T): Promise<Listeners<T>> {
  const session = await openSession(assay.url);
  await session.ask('tools/list');
  const legacy = await session.listen();
  expect(await session.ask('resources/subscribe', { uri: 'note://one' })).toMatchObject({ result: {} });
  const modern = await modernStream(assay.url, 'subscriptions/listen', {
    params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['note://one'] } },
  });
  await modern.next('acknowledgement', isAcknowledged);
  return { assay, legacy, modern };
}

const ERAS = ['legacy', 'modern'] as const;

async function withHttp(era: 'legacy' | 'modern'): Promise<Listeners & { readonly http: NotifierHttp }> {
  const http = await startNotifier({ era });
  endLater(() => http.close());
  return { http, ...(await listeners(await addServer(httpEntry(http)))) };
}

describe.each(ERAS)('a stream of a %s server', (era) => {
  it.each(['cut', 'end'] as const)(
    'is reopened after it has been closed (%s), and possibly missed changes are announced',
    async (how) => {
      const { http, legacy, modern } = await withHttp(era);
      await until('one stream is open', () => (http.streams() === 1 ? true : undefined));
      http[how]();
      http.grow('tools');
      for (const stream of [legacy, modern]) {
        await untilHas(stream, isChange, 1);
        await untilHas(stream, isUpdate, 1);
      }
      http.touch('note://one');
      for (const stream of [legacy, modern]) await untilHas(stream, isUpdate, 2);
      http.grow('tools');
      for (const stream of [legacy, modern]) await untilHas(stream, isChange, 2);
      await sleep(300);
      for (const stream of [legacy, modern]) {
        expect(stream.messages().filter(isUpdate)).toHaveLength(2);
        expect(stream.messages().filter(isChange)).toHaveLength(2);
      }
      expect(http.streams()).toBe(1);
    },
  );

  it('is requested again after a refusal, but not too often', async () => {
    const http = await startNotifier({ era });
    endLater(() => http.close());
    const refuse = (isRefused: boolean): void => {
      http.getStatus = isRefused ? 503 : undefined;
      http.refusal = isRefused ? { code: -32603, message: 'Too many streams' } : undefined;
    };
    refuse(true);
    const assay = await addServer(httpEntry(http));
    const session = await openSession(assay.url);
    // A list that is first read after the client listens would be announced as changed.
    for (const kind of ['tools', 'prompts', 'resources']) await session.ask(`${kind}/list`);
    const get = await session.listen();
    http.grow('tools');
    await sleep(1_000);
    expect(get.messages()).toEqual([]);
    expect(http.seen['subscriptions/listen'] ?? 0).toBeLessThanOrEqual(3);
    refuse(false);
    await untilHas(get, isChange, 1);
    http.grow('tools');
    await untilHas(get, isChange, 2);
    expect(http.streams()).toBe(1);
  });

  it('is closed when Assay stops', async () => {
    const http = await startNotifier({ era });
    endLater(() => http.close());
    const { assay } = await listeners(await ownAssay({ servers: { s: httpEntry(http) } }));
    await assay.stop();
    await until('no stream is open', () => (http.streams() === 0 ? true : undefined));
  });
});

it('a modern server without subscription streams is asked for one only once, and its tools still work', async () => {
  const http = await startNotifier({ era: 'modern' });
  endLater(() => http.close());
  http.refusal = { code: -32601, message: 'Method not found' };
  const assay = await addServer(httpEntry(http));
  await sleep(1_200);
  expect(http.seen['subscriptions/listen']).toBe(1);
  const session = await openSession(assay.url);
  expect(at(await session.ask('resources/subscribe', { uri: 'note://one' }), 'error', 'data', 'code')).toBe(
    'SUBSCRIPTION_UNSUPPORTED',
  );
  expect(await session.call('touch', { uri: 'note://one' })).toBe('touched');
});

describe.each(ERAS)('a %s server', (era) => {
  it.each(['stdio', 'http'])(
    'over %s gets all subscriptions again after a restart, which is announced once',
    async (way) => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/mcp`;
      let http = way === 'http' ? await startNotifier({ era, port }) : undefined;
      endLater(async () => http?.close());
      const eventLog = openEventLog();
      const entry =
        http === undefined
          ? fixture('notifier', [`--era=${era}`], { env: eventLog.env })
          : { type: 'http', url, isolation: 'shared' };
      const { assay, legacy, modern } = await listeners(await addServer(entry));
      if (http === undefined) kill(eventLog.read('start').at(-1)?.pid ?? 0, 'SIGKILL');
      else {
        await http.close();
        http = await startNotifier({ era, port });
        // Lets a call detect that the old server is gone, in case no stream has.
        await modernAsk(assay.url, 'tools/call', { params: { name: 'state' } });
      }
      for (const stream of [legacy, modern]) await untilHas(stream, isUpdate, 1);
      expect(at(serverIn(await assay.health(), assay.name), 'state')).toBe('up');
      await modernAsk(assay.url, 'tools/call', {
        params: { name: 'touch', arguments: { uri: 'note://one' } },
      });
      for (const stream of [legacy, modern]) await untilHas(stream, isUpdate, 2);
      await sleep(200);
      for (const stream of [legacy, modern]) expect(stream.messages().filter(isUpdate)).toHaveLength(2);
      legacy.cut();
      modern.cut();
    },
  );
});

describe('a modern server', () => {
  it('gets a new stream for an additional resource before the old one is closed', async () => {
    const { http, assay, modern } = await withHttp('modern');
    const session = await openSession(assay.url);
    const get = await session.listen();
    for (let round = 0; round < 20; round++) {
      http.touch('note://one');
      await session.ask('resources/subscribe', { uri: `note://item/${round}` });
      http.touch(`note://item/${round}`);
    }
    await untilHas(modern, isUpdate, 20);
    await untilHas(get, isUpdate, 20);
    await until('one stream is left', () => (http.streams() === 1 ? true : undefined));
    await session.end();
    await until('nobody wants more', () => (http.subscribed().join() === 'note://one' ? true : undefined));
  });

  it('keeps the old stream if it refuses one with an additional resource', async () => {
    const { http, assay, modern } = await withHttp('modern');
    const session = await openSession(assay.url);
    const answer = await session.ask('resources/subscribe', { uri: 'note://poison' });
    expect(at(answer, 'error')).toEqual({
      code: -32077,
      message: 'Not this one',
      data: { why: 'forbidden' },
    });
    http.touch('note://one');
    await untilHas(modern, isUpdate, 1);
    expect(await session.ask('resources/subscribe', { uri: 'note://two' })).toMatchObject({ result: {} });
    expect(http.subscribed()).toEqual(['note://one', 'note://two']);
  });
});

describe('a client', () => {
  it('may subscribe to a limited number of resources across all its streams', async () => {
    const http = await startNotifier({ era: 'legacy' });
    endLater(() => http.close());
    const assay = await startGateway({
      servers: { s: { type: 'http', url: http.url, isolation: 'shared' } },
      limits: { subscriptionsPerClient: 2 },
    });
    await assay.settled();
    const session = await openSession(assay.url);
    const code = async (uri: string): Promise<Json | undefined> =>
      at(await session.ask('resources/subscribe', { uri }), 'error', 'data', 'code');
    expect([await code('note://one'), await code('note://one'), await code('note://two')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await code('note://dir')).toBe('SUBSCRIPTION_LIMIT');
    await session.ask('resources/unsubscribe', { uri: 'note://one' });
    expect(await code('note://dir')).toBeUndefined();
    const listen = (uris: readonly string[]): Promise<Stream> =>
      modernStream(assay.url, 'subscriptions/listen', {
        params: { notifications: { resourceSubscriptions: uris } },
      });
    const first = await listen(['note://one', 'note://one', 'note://two']);
    await first.next('acknowledgement', isAcknowledged);
    const refused = await listen(['note://one']);
    expect(refused.status).toBe(429);
    first.cut();
    await until('there is room again', async () => {
      const again = await listen(['note://one']);
      again.cut();
      return again.status === 200 ? true : undefined;
    });
  });

  it('gets one update per resource that changed while it had no stream', async () => {
    const { http, assay, legacy } = await withHttp('legacy');
    const session = await openSession(assay.url);
    await session.ask('resources/subscribe', { uri: 'note://dir' });
    await session.ask('resources/subscribe', { uri: 'note://two' });
    await until('one stream is open', () => (http.streams() === 1 ? true : undefined));
    http.touch('note://two');
    http.touch('note://two');
    http.touch('note://dir/a', 'note://dir');
    http.touch('note://dir/b', 'note://dir');
    // Updates keep their order, so the earlier ones have been handled once this one arrives.
    http.touch('note://one');
    await untilHas(legacy, isUpdate, 1);
    const get = await session.listen();
    await untilHas(get, isUpdate, 2);
    await sleep(100);
    // The stream may also carry list changes of the new server.
    const updates = get.messages().filter(isUpdate);
    expect(updates.map((message) => at(message, 'params', 'uri'))).toEqual(['note://two', 'note://dir']);
  });

  it('leaves nothing behind if it disconnects during a subscription request', async () => {
    const { http, assay, legacy, modern } = await withHttp('legacy');
    for (let round = 0; round < 10; round++) {
      const stream = await modernStream(assay.url, 'subscriptions/listen', {
        params: { notifications: { resourceSubscriptions: ['note://two', `note://item/${round}`] } },
      });
      stream.cut();
    }
    legacy.cut();
    modern.cut();
    await until('only the session’s is left', () =>
      http.subscribed().join() === 'note://one' ? true : undefined,
    );
  });
});

it('an unanswered subscription delays the acknowledgement only up to a limit, and is left out of it', async () => {
  const { http, assay } = await withHttp('legacy');
  const stream = await modernStream(assay.url, 'subscriptions/listen', {
    params: { notifications: { resourceSubscriptions: ['note://silent', 'note://two'] } },
  });
  await until('the other one is asked for', () =>
    http.subscribed().includes('note://two') ? true : undefined,
  );
  http.touch('note://two');
  const first = await stream.next('acknowledgement', () => true, 10_000);
  expect(at(first, 'params', 'notifications')).toEqual({ resourceSubscriptions: ['note://two'] });
  await untilHas(stream, isUpdate, 1);
});

it('resource subscriptions carry over when a server is replaced in the config', async () => {
  const path = writeConfig({ s: fixture('notifier', ['--label=a']) });
  const { assay, modern } = await listeners(await ownAssay({ config: path }));
  const next = writeConfig({ s: fixture('notifier', ['--label=b']) });
  writeFileSync(path, readFileSync(next));
  await untilHas(modern, isUpdate, 1);
  await modernAsk(assay.url, 'tools/call', { params: { name: 's_touch', arguments: { uri: 'note://one' } } });
  await untilHas(modern, isUpdate, 2);
});

it('a subscription to a resource of an unreachable server is acknowledged without it', async () => {
  const home = tempDir();
  const port = await freePort();
  const http = await startNotifier({ era: 'legacy', port });
  const servers = { s: { type: 'http', url: http.url, isolation: 'shared' } };
  await (await startGateway({ servers, home })).settled();
  await http.close();
  const assay = await startGateway({ servers, home });
  const stream = await modernStream(assay.url, 'subscriptions/listen', {
    params: { notifications: { promptsListChanged: true, resourceSubscriptions: ['note://one'] } },
  });
  const first = await stream.next('acknowledgement', () => true, 8_000);
  expect([isAcknowledged(first), at(first, 'params', 'notifications')]).toEqual([
    true,
    { promptsListChanged: true },
  ]);
});

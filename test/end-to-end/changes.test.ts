import { beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient } from '../support/clients.ts';
import { sleep, until } from '../support/endings.ts';
import type { Stream } from '../support/http.ts';
import { at, namesAt, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { listAfterChanges } from '../support/list-changes.ts';
import { META, modernAsk, modernStream } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const CHANGED = 'notifications/tools/list_changed';
const isChange = (message: Json): boolean => at(message, 'method') === CHANGED;

describe('a change of a server’s lists', () => {
  let assay: Gateway;
  let session: LegacySession;
  beforeEach(async () => {
    assay = await startGateway({ servers: { changer: fixture('changer'), plain: fixture('plain') } });
    await assay.settled();
    session = await openSession(assay.url);
    await session.ask('tools/list');
  });

  const listen = (id: Json, notifications: Record<string, boolean>): Promise<Stream> =>
    modernStream(assay.url, 'subscriptions/listen', { id, params: { notifications } });

  it('reaches legacy sessions on their GET streams and modern clients on their subscriptions', async () => {
    const [stream, other] = await Promise.all([session.listen(), (await openSession(assay.url)).listen()]);
    const modern = await listen('sub', { toolsListChanged: true });
    await session.call('changer_grow');
    const notice = await stream.next('list_changed', isChange);
    expect(notice).not.toHaveProperty('id');
    await other.next('list_changed', isChange);
    expect(at(await modern.next('list_changed', isChange), 'params', '_meta', `${META}subscriptionId`)).toBe(
      'sub',
    );
    await listAfterChanges({
      changes: () => stream.messages().filter(isChange).length,
      list: async () => namesAt(await session.ask('tools/list'), 'result', 'tools'),
      isComplete: (names) => names.includes('changer_extra_0'),
    });
    expect(namesAt(await modernAsk(assay.url, 'tools/list'), 'result', 'tools')).toContain('changer_extra_0');
    expect(await session.call('changer_extra_0')).toBe('extra_0');
  });

  it('arrives as one notification, or few, for a burst; the list is complete then', async () => {
    const stream = await session.listen();
    await session.call('changer_burst', { times: 40 });
    await listAfterChanges({
      changes: () => stream.messages().filter(isChange).length,
      list: async () => namesAt(await session.ask('tools/list'), 'result', 'tools'),
      isComplete: (names) => names.filter((name) => name.includes('extra')).length === 40,
    });
    expect(stream.messages().filter(isChange).length).toBeLessThanOrEqual(3);
  });

  it('is announced per kind: a client that uses prompts gets nothing about tools', async () => {
    const prompts = await listen(7, { promptsListChanged: true });
    const resources = await listen(8, { resourcesListChanged: true, toolsListChanged: false });
    await session.call('changer_grow', { kinds: ['tools', 'prompts'] });
    await prompts.next(
      'prompts changed',
      (one) => at(one, 'method') === 'notifications/prompts/list_changed',
    );
    await sleep(300);
    expect(prompts.messages().map((one) => at(one, 'method'))).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/prompts/list_changed',
    ]);
    expect(resources.messages().map((one) => at(one, 'method'))).toEqual([
      'notifications/subscriptions/acknowledged',
    ]);
    expect(namesAt(await session.ask('prompts/list'), 'result', 'prompts')).toContain('changer_p_extra_0');
  });

  it('reaches clients at the server’s own endpoint, and not those at another’s', async () => {
    const base = `http://127.0.0.1:${assay.port}/mcp/servers`;
    const own = await modernStream(`${base}/changer`, 'subscriptions/listen', {
      params: { notifications: { toolsListChanged: true } },
    });
    const others = await modernStream(`${base}/plain`, 'subscriptions/listen', {
      params: { notifications: { toolsListChanged: true } },
    });
    await session.call('changer_grow');
    await own.next('list_changed', isChange);
    await sleep(300);
    // Both may have been notified of their first lists.
    const changesOf = (stream: Stream): number => stream.messages().filter(isChange).length;
    const [ofOwn, ofOthers] = [changesOf(own), changesOf(others)];
    await session.call('changer_grow');
    await until('the change is announced', () => (changesOf(own) > ofOwn ? true : undefined));
    await sleep(300);
    expect(changesOf(others)).toBe(ofOthers);
  });

  it('reaches the official clients, which list again by themselves', async () => {
    for (const mode of ['legacy', 'modern'] as const) {
      const seen: number[] = [];
      await connectClient({ url: assay.url }, mode, {
        listChanged: { tools: { onChanged: (_error, tools) => seen.push(tools?.length ?? -1) } },
      });
      await sleep(100);
      const before = namesAt(await session.ask('tools/list'), 'result', 'tools').length;
      await session.call('changer_grow');
      await until(`the ${mode} client has seen ${before + 1} tools`, () =>
        seen.includes(before + 1) ? true : undefined,
      );
    }
  });
});

describe('subscriptions/listen', () => {
  it('is acknowledged first, tagged with the id of its request, and names only what is honored', async () => {
    const assay = await startGateway({ servers: { changer: fixture('changer') } });
    for (const id of [0, 'text', 77]) {
      const stream = await modernStream(assay.url, 'subscriptions/listen', {
        id,
        params: { notifications: { toolsListChanged: true, noSuchThing: true } },
      });
      expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
      expect(stream.headers['x-accel-buffering']).toBe('no');
      const first = await stream.next('acknowledgement', () => true);
      expect(first).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta: { [`${META}subscriptionId`]: id }, notifications: { toolsListChanged: true } },
      });
      stream.cut();
    }
  });

  it('without its filter is answered with an error instead of a stream', async () => {
    const assay = await startGateway({ servers: { changer: fixture('changer') } });
    const stream = await modernStream(assay.url, 'subscriptions/listen', { params: {} });
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'application/json']);
  });

  it('on stdio shares the channel, ends with notifications/cancelled and does not affect other requests', async () => {
    const pipe = openStdio({ servers: { changer: fixture('changer') } });
    const send = (id: Json, method: string, params: Record<string, Json>): void => {
      pipe.send({
        jsonrpc: '2.0',
        id,
        method,
        params: {
          ...params,
          _meta: {
            [`${META}protocolVersion`]: '2026-07-28',
            [`${META}clientCapabilities`]: {},
            [`${META}clientInfo`]: { name: 't', version: '1' },
          },
        },
      });
    };
    const stampOf = (one: Json): Json | undefined => at(one, 'params', '_meta', `${META}subscriptionId`);
    send('first', 'tools/list', {});
    await pipe.next('tools', (one) => at(one, 'id') === 'first');
    send('sub a', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    send(5, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    for (const id of ['sub a', 5]) {
      await pipe.next('acknowledgement', (one) => stampOf(one) === id && !isChange(one));
    }
    send('grow', 'tools/call', { name: 'changer_grow', arguments: {} });
    for (const id of ['sub a', 5]) await pipe.next('change', (one) => isChange(one) && stampOf(one) === id);
    pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'sub a' } });
    await sleep(100);
    const before = pipe.lines().length;
    send('again', 'tools/call', { name: 'changer_grow', arguments: {} });
    await until('the second change', () => {
      const later = pipe
        .lines()
        .slice(before)
        .map((line) => JSON.parse(line) as Json);
      return later.some((one) => isChange(one) && stampOf(one) === 5) ? true : undefined;
    });
    await sleep(300);
    const later = pipe
      .lines()
      .slice(before)
      .map((line) => JSON.parse(line) as Json);
    expect(later.filter((one) => isChange(one) && stampOf(one) === 'sub a')).toEqual([]);
  });
});

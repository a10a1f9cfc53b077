import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ReplaySpace } from '../../src/edges/mcp/replay.ts';
import { SessionStreams } from '../../src/edges/mcp/session-streams.ts';
import { endLater, sleep, until } from '../../../../test/support/endings.ts';
import { openStream, type Stream } from '../../../../test/support/http.ts';
import { at, type Json } from '../../../../test/support/json.ts';

const message = (name: string): Buffer => Buffer.from(`{"jsonrpc":"2.0","method":"${name}"}`);
const named = (stream: Stream): readonly (Json | undefined)[] =>
  stream.messages().map((one) => at(one, 'method'));

/** The streams of one session, behind a real server: GET listens or resumes, POST is a call that never ends. */
async function open(): Promise<{
  streams: SessionStreams;
  listen: (lastEventId?: string) => Promise<Stream>;
  call: () => Promise<Stream>;
}> {
  const streams = new SessionStreams({
    version: '2025-11-25',
    replay: new ReplaySpace(10_000).open('a'),
    maxUnreadBytes: 1_000_000,
    sessionMark: '00000001',
    buildLost: (idText) => Buffer.from(`{"jsonrpc":"2.0","id":${idText},"error":{}}`),
    allChanged: () => ['all/changed'],
  });
  const server = createServer((request, response) => {
    const lastEventId = request.headers['last-event-id'];
    if (request.method === 'POST') streams.open(response);
    else if (typeof lastEventId !== 'string') streams.listen(response);
    else streams.resume(response, lastEventId);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(() => {
    streams.close();
    server.closeAllConnections();
    server.close();
    return Promise.resolve();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    streams,
    listen: (id) =>
      openStream(url, { method: 'GET', headers: id === undefined ? {} : { 'last-event-id': id } }),
    call: () => openStream(url, { method: 'POST' }),
  };
}

async function cut(streams: SessionStreams, stream: Stream): Promise<string> {
  const { id = '' } = await until('an event', () => stream.events.at(-1));
  stream.cut();
  await until('its end is known', () => (streams.isConnected ? undefined : true));
  return id;
}

describe('session messages outside of any request', () => {
  it('are dropped, not queued, if the client has never listened', async () => {
    const { streams, listen } = await open();
    expect(streams.send(message('a'))).toBe(false);
    const get = await listen();
    expect(streams.send(message('b'))).toBe(true);
    await get.next('b', (one) => at(one, 'method') === 'b');
    expect(named(get)).toEqual(['b']);
  });

  it('are sent only on the GET stream if it is open, otherwise on the stream of one call', async () => {
    const { streams, listen, call } = await open();
    const calls = [await call(), await call()];
    expect(streams.send(message('a'))).toBe(true);
    const get = await listen();
    expect(streams.send(message('b'))).toBe(true);
    await get.next('b', (one) => at(one, 'method') === 'b');
    await sleep(50);
    expect([...calls, get].map(named).toSorted()).toEqual([[], ['a'], ['b']]);
  });

  it('are queued for a client that has listened before, and sent once when it returns', async () => {
    const { streams, listen } = await open();
    const lastEventId = await cut(streams, await listen());
    expect(streams.send(message('a'))).toBe(true);
    expect(streams.send(message('a'))).toBe(true);
    for (const name of ['n', 'm', 'n']) streams.sendLatest(name, message(name), () => message(name));
    streams.sendAlways('changed');
    streams.sendAlways('changed');
    const get = await listen(lastEventId);
    await get.next('changed', (one) => at(one, 'method') === 'changed');
    expect(named(get)).toEqual(['a', 'a', 'm', 'n', 'changed']);
    await cut(streams, get);
    const reopened = await listen();
    await until('an event', () => reopened.events[0]);
    expect(named(reopened)).toEqual([]);
  });

  it('are limited while they are queued, but a list change is never lost', async () => {
    const { streams, listen } = await open();
    await cut(streams, await listen());
    streams.sendAlways('changed');
    for (let index = 0; index < 1_000; index += 1)
      streams.sendLatest(String(index), message(`n${index}`), () => message('all'));
    const get = await listen();
    await get.next('changed', (one) => at(one, 'method') === 'changed');
    expect(named(get).slice(-3)).toEqual(['n998', 'n999', 'changed']);
    expect(named(get).length).toBeLessThan(40);
  });

  it('are followed by a change of every list if some were dropped', async () => {
    const { streams, listen } = await open();
    const first = await listen();
    const lastEventId = (await until('an event', () => first.events[0])).id;
    for (let index = 0; index < 1_000; index += 1) streams.send(message(`n${index}`));
    await cut(streams, first);
    const get = await listen(lastEventId);
    await get.next('all/changed', (one) => at(one, 'method') === 'all/changed');
    expect(get.events.map(({ comment }) => comment).join('')).toMatch(/^: \d+ events are not kept any more$/);
    expect(named(get).slice(-2)).toEqual(['n999', 'all/changed']);
  });
});

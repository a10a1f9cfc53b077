import { beforeAll, describe, expect, it } from 'vitest';
import { startHttp } from '../fixtures/http.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { send, type Answer } from '../support/http.ts';
import { at, parseJson, type Json } from '../support/json.ts';
import { messageOf, openSession, type LegacySession } from '../support/legacy.ts';
import { fixture } from '../support/paths.ts';
import { readGauge } from '../support/prometheus.ts';

const isGone = (answer: Answer): boolean =>
  answer.status === 404 && at(answer.json(), 'error', 'data', 'code') === 'SESSION_UNKNOWN';
const ping = (session: LegacySession): Promise<Answer> =>
  session.post('{"jsonrpc":"2.0","id":"p","method":"ping"}');

describe('a session ended by its client', () => {
  it('ends its calls and streams, and affects no other session', async () => {
    const assay = await startGateway({ servers: { c: fixture('cancellable') } });
    await assay.settled();
    const [session, other] = await Promise.all([openSession(assay.url), openSession(assay.url)]);
    const get = await session.listen();
    const params = {
      name: 'c_steps',
      arguments: { steps: 50, intervalMs: 100, who: 1 },
      _meta: { progressToken: 1 },
    };
    const stream = await session.stream('tools/call', params);
    await stream.next('a step', () => true);
    const waiting = session.post(
      '{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"c_wait","arguments":{}}}',
    );
    const others = other.ask('tools/call', { name: 'c_wait', arguments: { ms: 1_000 } });
    await sleep(200);
    expect((await session.end()).status).toBe(204);
    await Promise.all([get.ended, stream.ended, waiting]);
    expect(stream.messages().some((message) => at(message, 'method') === undefined)).toBe(false);
    for (const event of [...stream.events, ...get.events].slice(-1)) {
      const headers = { ...session.headers, 'last-event-id': event.id ?? '' };
      expect(isGone(await send(assay.url, { method: 'GET', headers }))).toBe(true);
    }
    expect([isGone(await ping(session)), isGone(await session.end())]).toEqual([true, true]);
    const seen = await until('the server hears of it', async () => {
      const cancelled = at(parseJson(await other.call('c_seen')), 'cancelled') as readonly Json[];
      return cancelled.length === 2 ? cancelled : undefined;
    });
    expect(seen).toHaveLength(2);
    expect(at(await others, 'result', 'content', 0, 'text')).toBe('waited');
    expect(await readGauge(assay, 'assay_sessions')).toBe(1);
  });
});

describe('an unused session', () => {
  let assay: Gateway;
  beforeAll(async () => {
    const sse = await startHttp('sse');
    endLater(() => sse.close());
    const servers = { c: fixture('cancellable'), sse: { type: 'sse', url: sse.url } };
    assay = await startGateway({ servers, settings: { settings: { 'limits.sessionIdleMs': 1_500 } } });
    await assay.settled();
  });

  it('expires with its own link to a server, and its id is unknown afterwards', async () => {
    const readLinks = (): Promise<number> => readGauge(assay, 'assay_private_links', { server: 'sse' });
    const session = await openSession(assay.url);
    await session.call('sse_echo');
    expect(await readLinks()).toBe(1);
    await until('it has ended', async () =>
      (await readGauge(assay, 'assay_sessions')) === 0 ? true : undefined,
    );
    expect([isGone(await ping(session)), await readLinks()]).toEqual([true, 0]);
  });

  it('stays open as long as it has an open stream or a pending request', async () => {
    const [listening, calling, resuming] = await Promise.all([
      openSession(assay.url),
      openSession(assay.url),
      openSession(assay.url),
    ]);
    const stream = await listening.listen();
    const call = calling.ask('tools/call', { name: 'c_wait', arguments: { ms: 5_000 } });
    const left = await resuming.stream('tools/call', {
      name: 'c_steps',
      arguments: { steps: 2, intervalMs: 2_500, who: 1 },
      _meta: { progressToken: 1 },
    });
    const priming = await until('an event', () => left.events[0]);
    left.cut();
    expect(at(await call, 'result', 'content', 0, 'text')).toBe('waited');
    expect((await ping(listening)).status).toBe(200);
    const resumed = await resuming.resume(priming.id ?? '');
    await resumed.ended;
    expect(resumed.messages().at(-1)).toHaveProperty('result');
    stream.cut();
    await until('all have ended', async () =>
      (await readGauge(assay, 'assay_sessions')) === 0 ? true : undefined,
    );
    expect(isGone(await ping(listening))).toBe(true);
  });
});

describe('three hundred sessions that are opened and ended', () => {
  it('leave no session, connection, timer or socket behind', async () => {
    const assay = await startGateway({ servers: { c: fixture('cancellable') } });
    await assay.settled();
    const runSession = async (index: number): Promise<void> => {
      const session = await openSession(assay.url, {
        version: index % 2 === 0 ? '2025-06-18' : '2025-11-25',
      });
      const get = await session.listen();
      const stream = await session.stream('tools/call', {
        name: 'c_steps',
        arguments: { steps: 1, intervalMs: 1, who: index },
        _meta: { progressToken: index },
      });
      const first = await until('an event', () => stream.events[0]);
      stream.cut();
      const resumed = await session.resume(first.id ?? '');
      if (index % 3 === 0) resumed.cut();
      else await resumed.ended;
      if (index % 5 === 0) get.cut();
      await session.end();
      await get.ended;
    };
    const counts = (): Promise<readonly number[]> =>
      Promise.all([
        readGauge(assay, 'assay_sessions'),
        readGauge(assay, 'assay_requests_in_flight', { server: 'c' }),
        readGauge(assay, 'assay_connections'),
        readGauge(assay, 'nodejs_active_resources', { type: 'TCPSocketWrap' }),
        readGauge(assay, 'nodejs_active_resources', { type: 'Timeout' }),
      ]);
    for (let start = 0; start < 300; start += 20)
      await Promise.all(Array.from({ length: 20 }, (_, index) => runSession(start + index)));
    let left: readonly number[] = [];
    await until(
      () => `nothing is left: ${String(left)}`,
      async () => {
        left = await counts();
        // Five gauges are read concurrently, and Assay itself may have a timer or two active.
        return left.slice(0, 2).every((count) => count === 0) && left.slice(2).every((count) => !(count > 7))
          ? true
          : undefined;
      },
    );
  });
});

describe('any request of an ended session', () => {
  it('gets 404', async () => {
    const assay = await startGateway({ servers: { c: fixture('cancellable') } });
    const session = await openSession(assay.url, { version: '2025-03-26' });
    await session.end();
    const answers = await Promise.all([
      session.post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
      session.post('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'),
      session.post('{"jsonrpc":"2.0","id":1,"result":{}}'),
      session.post('[{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
      send(assay.url, { method: 'GET', headers: session.headers }),
      session.end(),
    ]);
    expect(answers.map(isGone)).toEqual(Array(6).fill(true));
    const again = await openSession(assay.url);
    expect(messageOf(await ping(again))).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
  });
});

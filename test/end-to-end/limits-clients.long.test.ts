import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startAssay, type Assay } from '../support/assay.ts';
import { sleep, until } from '../support/endings.ts';
import { openMany, rawPost, residentMb, untilClosed } from '../support/flood.ts';
import { startRequest } from '../support/http.ts';
import { at, type Json } from '../support/json.ts';
import { openFilesOf } from '../support/open-things.ts';
import { messageOf, openSession, type LegacySession } from '../support/legacy.ts';
import { modernBody, modernCall, modernHeaders, modernSend } from '../support/modern.ts';
import { fixture, openEventLog, tempDir } from '../support/paths.ts';
import { spawnStdio } from '../support/stdio.ts';

/** Calls that run until the test ends them. */
class SleepingCalls {
  readonly #end = join(tempDir(), 'end');
  readonly params = { name: 'plain_sleep', arguments: { ms: 20, until: this.#end } };

  legacy(id: Json): string {
    return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: this.params });
  }

  end(): void {
    writeFileSync(this.#end, '');
  }
}

const BUSY = {
  code: -32603,
  message:
    'This client has reached the maximum of 2 requests in progress. Wait for responses, or raise limits.requestsPerClient.',
  data: { code: 'CLIENT_BUSY', limit: 2 },
};

describe('a client limited to two concurrent requests', () => {
  let assay: Assay;
  const eventLog = openEventLog();
  const settings = { 'limits.requestsPerClient': 2 };
  beforeAll(async () => {
    assay = await startAssay({
      servers: { plain: fixture('plain', [], { env: eventLog.env }) },
      settings: { settings },
    });
    await assay.settled();
  });

  const begun = (before: number): Promise<true> =>
    until('the calls run', () => (eventLog.countOf('tools/call') >= before + 2 ? true : undefined));

  it('of a legacy revision gets 429 with its id for a third, while another session is served; afterwards it may send one again', async () => {
    const [session, other] = [await openSession(assay.url), await openSession(assay.url)];
    const calls = new SleepingCalls();
    const before = eventLog.countOf('tools/call');
    const running = [session.post(calls.legacy(1)), session.post(calls.legacy(2))];
    await begun(before);
    const third = await session.post(calls.legacy('drei'));
    expect([third.status, third.headers['retry-after'], third.json()]).toEqual([
      429,
      '1',
      { jsonrpc: '2.0', id: 'drei', error: BUSY },
    ]);
    expect(await other.call('plain_label')).toBe('plain');
    calls.end();
    for (const answer of await Promise.all(running)) expect(answer.status).toBe(200);
    expect(await session.call('plain_label')).toBe('plain');
  });

  it('of 2026-07-28 gets 429 with its id for a third; afterwards it may send one again', async () => {
    const calls = new SleepingCalls();
    const { params } = calls;
    const before = eventLog.countOf('tools/call');
    const running = [1, 2].map((id) => modernSend(assay.url, 'tools/call', { id, params }));
    await begun(before);
    const third = await modernSend(assay.url, 'tools/call', { id: 7, params });
    expect([third.status, third.headers['retry-after'], third.json()]).toEqual([
      429,
      '1',
      { jsonrpc: '2.0', id: 7, error: BUSY },
    ]);
    calls.end();
    for (const answer of await Promise.all(running)) expect(answer.status).toBe(200);
    expect(await modernCall(assay.url, 'plain_label')).toBe('plain');
  });

  it('gets an error for each excess request of a batch, and responses for the others', async () => {
    const session = await openSession(assay.url, { version: '2025-03-26' });
    const calls = new SleepingCalls();
    const before = eventLog.countOf('tools/call');
    const batch = session.post(`[${calls.legacy(1)},${calls.legacy(2)},${calls.legacy(3)}]`);
    await begun(before);
    calls.end();
    const answer = await batch;
    expect(answer.status).toBe(200);
    const messages = answer.json() as Json[];
    expect(messages.find((one) => at(one, 'id') === 3)).toEqual({ jsonrpc: '2.0', id: 3, error: BUSY });
    expect(messages.filter((one) => at(one, 'result') !== undefined)).toHaveLength(2);
    expect(await session.call('plain_label')).toBe('plain');
  });

  it('of a legacy revision that disconnected still counts until its server has responded', async () => {
    const session = await openSession(assay.url);
    const calls = new SleepingCalls();
    const before = eventLog.countOf('tools/call');
    const gone = [1, 2].map((id) =>
      startRequest(assay.url, { headers: session.headers, body: calls.legacy(id) }),
    );
    await begun(before);
    for (const one of gone) one.cut();
    await sleep(100);
    expect((await session.post(calls.legacy(3))).status).toBe(429);
    calls.end();
    await until('the calls are over', async () =>
      (await session.post(calls.legacy(4))).status === 200 ? true : undefined,
    );
  });

  it.each(['legacy', 'modern'])('on stdio (%s) gets an error for a third', async (era) => {
    const pipe = spawnStdio({ servers: { plain: fixture('plain') }, settings: { settings } });
    if (era === 'legacy') await pipe.initialize();
    const calls = new SleepingCalls();
    const { params } = calls;
    for (const id of [1, 2, 3])
      pipe.write(`${era === 'legacy' ? calls.legacy(id) : modernBody('tools/call', { id, params })}\n`);
    const third = await pipe.next('the third answer', (one) => at(one, 'id') === 3);
    expect(at(third, 'error')).toEqual(BUSY);
    calls.end();
    const first = await pipe.next('the first answer', (one) => at(one, 'id') === 1);
    expect(at(first, 'result', 'content', 0, 'text')).toBe('slept 20');
  });
});

describe('a client that never reads', () => {
  let assay: Assay;
  let session: LegacySession;
  const eventLog = openEventLog();
  beforeAll(async () => {
    assay = await startAssay({
      servers: { plain: fixture('plain'), dozer: fixture('dozer', [], { env: eventLog.env }) },
      settings: { settings: { 'limits.requestsPerClient': 50 } },
      limits: { unreadMs: 1_000, unreadBytes: 1_000_000 },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  const big = (id: number): string => {
    const params = { name: 'plain_big', arguments: { bytes: 4_000_000 } };
    return rawPost(session.headers, JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
  };

  it('and sends 300 calls on as many connections loses those with an answer, which frees its slots; others are served', async () => {
    const beforeMb = residentMb(assay.pid);
    await modernCall(assay.url, 'plain_label');
    const before = openFilesOf(assay.pid).sockets;
    const opening = Array.from({ length: 300 }, (_, id) => openMany(assay.port, 1, big(id)));
    const sockets = (await Promise.all(opening)).flat();
    for (let calls = 0; calls < 20; calls += 1)
      expect(await modernCall(assay.url, 'plain_label')).toBe('plain');
    expect(residentMb(assay.pid) - beforeMb).toBeLessThan(600);
    const heads = await Promise.all(sockets.map(headOf));
    // A slow machine opens the last ones when the first have been closed already.
    const refused = heads.filter((head) => head === 'HTTP/1.1 429').length;
    expect(refused).toBeGreaterThan(0);
    // An answer that is read before its connection is cut arrives whole, and the connection stays.
    await until(
      'the answers that nobody reads are cut off',
      () => (openFilesOf(assay.pid).sockets <= before + refused ? true : undefined),
      30_000,
    );
    for (const [index, socket] of sockets.entries())
      if (heads[index] === 'HTTP/1.1 200') await untilClosed(socket, 10_000);
    expect(await session.call('plain_label')).toBe('plain');
  });

  it('and sends 300 calls on one connection is not read any further, and is disconnected', async () => {
    const beforeMb = residentMb(assay.pid);
    const calls = Array.from({ length: 300 }, (_, id) => big(1_000 + id)).join('');
    const [socket] = await openMany(assay.port, 1, calls);
    expect(await modernCall(assay.url, 'plain_label')).toBe('plain');
    await sleep(3_500);
    expect(await modernCall(assay.url, 'plain_label')).toBe('plain');
    expect(residentMb(assay.pid) - beforeMb).toBeLessThan(600);
    if (socket !== undefined) await untilClosed(socket);
  });

  it.each(['legacy', 'modern'])(
    'loses its stream (%s) when a server floods it, and the server is told if its era allows',
    async (era) => {
      const params = { name: 'dozer_flood', arguments: {}, _meta: { progressToken: 'p' } };
      const headers = era === 'legacy' ? session.headers : modernHeaders('tools/call', params);
      const body =
        era === 'legacy'
          ? JSON.stringify({ jsonrpc: '2.0', id: 'flood', method: 'tools/call', params })
          : modernBody('tools/call', { params });
      const beforeMb = residentMb(assay.pid);
      const [socket] = await openMany(assay.port, 1, rawPost(headers, body));
      await sleep(500);
      for (let calls = 0; calls < 20; calls += 1)
        expect(await modernCall(assay.url, 'plain_label')).toBe('plain');
      if (socket !== undefined) await untilClosed(socket);
      const flooded = eventLog.read('flooded').length;
      if (era === 'legacy') await session.notify('notifications/cancelled', { requestId: 'flood' });
      await until('the server is told', () =>
        eventLog.read('flooded').length > (era === 'legacy' ? flooded : 0) ? true : undefined,
      );
      expect(residentMb(assay.pid) - beforeMb).toBeLessThan(250);
    },
  );

  it('is distinguished from one that waits for its answer, or listens', async () => {
    const stream = await session.listen();
    expect(await modernCall(assay.url, 'plain_sleep', { ms: 3_000 })).toBe('slept 3000');
    const hasEnded = await Promise.race([stream.ended.then(() => true), sleep(0).then(() => false)]);
    expect(hasEnded).toBe(false);
    stream.cut();
  });

  it('is distinguished from one that reads slowly, which gets its whole answer', async () => {
    const answer = await slowly(assay.port, big(7));
    expect(answer.length).toBeGreaterThan(4_000_000);
    expect(answer.endsWith('}')).toBe(true);
  });

  it('gets its whole answer if it finally reads it in time', async () => {
    const response = await session.post(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 8,
        method: 'tools/call',
        params: { name: 'plain_big', arguments: { bytes: 20_000_000 } },
      }),
    );
    expect(String(at(messageOf(response), 'result', 'content', 0, 'text'))).toHaveLength(20_000_000);
  });
});

/** The first bytes received on a connection. */
async function headOf(socket: Socket): Promise<string> {
  const part = await until('something came', () => (socket.read() as Buffer | null) ?? undefined);
  return part.toString('latin1', 0, 12);
}

/** Reads 200 kB at a time, with a pause after each. */
async function slowly(port: number, request: string): Promise<string> {
  const [socket] = await openMany(port, 1, request);
  if (socket === undefined) throw new Error('no socket');
  let text = '';
  while (!socket.destroyed && !text.endsWith('}]}}')) {
    let read = 0;
    for (let part: unknown = socket.read(); part !== null && read < 200_000; part = socket.read()) {
      text += String(part);
      read += String(part).length;
    }
    await sleep(80);
  }
  return text;
}

describe('assay stdio whose client never reads', () => {
  it('drops notifications instead of buffering them', async () => {
    const pipe = spawnStdio({
      servers: { dozer: fixture('dozer') },
    });
    await pipe.initialize();
    pipe.stopReading();
    const beforeMb = residentMb(pipe.pid);
    const params = { name: 'dozer_flood', arguments: {}, _meta: { progressToken: 1 } };
    pipe.send({ jsonrpc: '2.0', id: 'flood', method: 'tools/call', params });
    await until('the loss is told', () => (pipe.stderr().includes('are dropped') ? true : undefined));
    await sleep(1_500);
    expect(residentMb(pipe.pid) - beforeMb).toBeLessThan(250);
    expect(pipe.stderr().match(/are dropped/g)).toHaveLength(1);
  });
});

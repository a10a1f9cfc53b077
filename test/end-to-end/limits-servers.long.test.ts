import { describe, expect, it } from 'vitest';
import { startAssay } from '../support/assay.ts';
import { sleep, until } from '../support/endings.ts';
import { residentMb } from '../support/flood.ts';
import { at, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { openThings } from '../support/open-things.ts';
import { modernCall } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, openEventLog } from '../support/paths.ts';
import { spawnStdio } from '../support/stdio.ts';

const codeOf = (message: Json): Json | undefined => at(message, 'error', 'data', 'code');

describe('a server limited to two concurrent requests and a queue of two', () => {
  const settings = { settings: { 'limits.requestsPerServer': 2, 'limits.queuePerServer': 2 } };

  it('gets the others in order, excess ones are refused, and ones cancelled while queued are dropped', async () => {
    const eventLog = openEventLog();
    const pipe = spawnStdio({
      servers: { c: fixture('cancellable', [], { env: eventLog.env }), plain: fixture('plain') },
      settings,
    });
    await pipe.initialize();
    await pipe.ask('tools/list');
    const call = (id: number, name: string): void =>
      pipe.send({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name, arguments: { who: `caller ${id}` } },
      });
    const cancel = (requestId: number): void =>
      pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    const answerTo = (id: number): Promise<Json> =>
      pipe.next(`the answer to ${id}`, (one) => at(one, 'id') === id);
    for (const id of [1, 2]) call(id, 'c_wait');
    for (const id of [3, 4, 5]) call(id, 'c_talk');
    expect(at(await answerTo(5), 'error')).toEqual({
      code: -32603,
      message:
        'Server "c" is busy: 2 requests are waiting for it, which is the maximum (limits.queuePerServer). The request was not carried out; try again later.',
      data: {
        code: 'SERVER_BUSY',
        server: 'c',
        cause: '2 requests are waiting for it, which is the maximum (limits.queuePerServer)',
        causeCode: 'QUEUE_FULL',
      },
    });
    expect(await pipe.call('plain_label')).toBe('plain');
    expect(await pipe.ask('tools/list')).toHaveProperty('result');
    cancel(3);
    call(6, 'c_talk');
    call(7, 'c_talk');
    expect(codeOf(await answerTo(7))).toBe('SERVER_BUSY');
    cancel(1);
    for (const id of [4, 6]) expect(at(await answerTo(id), 'result', 'content', 0, 'text')).toBe('talked');
    const talks = eventLog
      .read('message')
      .flatMap(({ detail }) => /"talk".*"who":"caller (\d)"/.exec(detail)?.[1] ?? []);
    expect(talks).toEqual(['4', '6']);
    expect(pipe.lines().filter((line) => /"id":[13][,}]/.test(line))).toEqual([]);
  });

  it('answers a hundred calls of four concurrent callers, each in its turn', async () => {
    const assay = await startAssay({ servers: { c: fixture('cancellable') }, settings });
    await assay.settled();
    const session = await openSession(assay.url);
    for (let time = 0; time < 25; time += 1) {
      const answers = await Promise.all([1, 2, 3, 4].map(() => session.call('c_talk')));
      expect(answers).toEqual(Array(4).fill('talked'));
    }
  });

  it('fails queued and running calls when it exits', async () => {
    const env = { ASSAY_LIMITS_DRAIN_MS: '300' };
    const assay = await startAssay({ servers: { c: fixture('cancellable') }, settings, env });
    await assay.settled();
    const session = await openSession(assay.url);
    const asked = Promise.all(
      [1, 2, 3, 4].map(() => session.ask('tools/call', { name: 'c_wait', arguments: {} })),
    );
    await until('all are in flight', async () =>
      (await openThings(assay)).inFlight === 4 ? true : undefined,
    );
    expect(await assay.stop()).toBe(0);
    const codes = (await asked).map(codeOf);
    expect(codes).toEqual(Array(4).fill('SHUTTING_DOWN'));
  });
});

describe('a server that does not read its input', () => {
  const size = (number: number): { name: string; arguments: Record<string, Json> } => ({
    name: 'dozer_size',
    arguments: { number, text: 'x'.repeat(100_000) },
  });

  it('limits what 500 calls of 100 kB buffer, and fails each with a clear error; another server responds', async () => {
    const assay = await startAssay({
      servers: { dozer: fixture('dozer', [], { timeoutMs: 3_000 }), plain: fixture('plain') },
      limits: { backlogBytes: 16_000_000 },
    });
    await assay.settled();
    const sessions = await Promise.all([1, 2].map(() => openSession(assay.url)));
    expect(await sessions[0]?.call('dozer_doze')).toBe('dozing');
    const beforeMb = residentMb(assay.pid);
    const startMs = Date.now();
    const asked = Promise.all(
      sessions.flatMap((session) =>
        Array.from({ length: 250 }, (_, id) => session.ask('tools/call', size(id))),
      ),
    );
    const over = asked.then(() => true);
    let maxMb = 0;
    while (!(await Promise.race([over, sleep(0)]))) {
      expect(await modernCall(assay.url, 'plain_label')).toBe('plain');
      maxMb = Math.max(maxMb, residentMb(assay.pid) - beforeMb);
    }
    const codes = (await asked).map(codeOf);
    expect(Date.now() - startMs).toBeLessThan(scaledMs(15_000));
    expect(maxMb).toBeLessThan(250);
    expect(new Set(codes)).toEqual(new Set(['SERVER_TIMEOUT', 'SERVER_BUSY']));
    // What was sent has reached its time limit: 4 MiB, and what a pipe holds.
    const sent = codes.filter((code) => code === 'SERVER_TIMEOUT').length;
    expect(sent).toBeGreaterThan(40);
    expect(sent).toBeLessThan(60);
  });

  it('gets all queued calls, each once, when it reads again', async () => {
    const eventLog = openEventLog();
    const assay = await startAssay({ servers: { dozer: fixture('dozer', [], { env: eventLog.env }) } });
    await assay.settled();
    const session = await openSession(assay.url);
    expect(await session.call('dozer_doze', { ms: 1_500 })).toBe('dozing');
    const asked = Array.from({ length: 200 }, (_, number) => session.ask('tools/call', size(number)));
    const answers = await Promise.all(asked);
    expect(answers.map(codeOf).filter((code) => code !== undefined)).toEqual([]);
    const numbers = eventLog.read('size').map(({ detail }) => Number(detail));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, number) => number));
  });

  it('gets no more cancellations than the limit, which is reported once', async () => {
    const assay = await startAssay({
      servers: { dozer: fixture('dozer', [], { timeoutMs: 500 }) },
      limits: { backlogBytes: 100_000 },
    });
    await assay.settled();
    const session = await openSession(assay.url);
    expect(await session.call('dozer_doze')).toBe('dozing');
    for (let time = 0; time < 3; time += 1)
      await Promise.all(Array.from({ length: 4 }, (_, number) => session.ask('tools/call', size(number))));
    expect(assay.stderr().match(/notifications to a server that does not read are dropped/g)).toHaveLength(1);
  });
});

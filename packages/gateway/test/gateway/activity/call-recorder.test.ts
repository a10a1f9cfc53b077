import { describe, expect, it } from 'vitest';
import { ChainCheck } from '../../../src/core/activity/call-chain.ts';
import type { CallEntry } from '../../../src/core/activity/call-entry.ts';
import { getDefaultSettings } from '../../../src/core/resolve-settings.ts';
import type { Settings } from '../../../src/core/settings.ts';
import { ok } from '@assay-mcp/kit/result';
import {
  type CallRecorderOptions,
  CallRecorder,
  MAX_WAITING,
} from '../../../src/gateway/services/activity/call-recorder.ts';
import { finishedCall, MemoryCalls } from '../../../../../test/support/call-values.ts';

interface Opened {
  readonly recorder: CallRecorder;
  readonly store: MemoryCalls;
  /** Level, message and fields of each log line. */
  readonly lines: unknown[];
  /** Counts of calls reported as lost. */
  readonly lost: number[];
}

function open(settings: Partial<Settings> = {}, more: Partial<CallRecorderOptions> = {}): Opened {
  const store = new MemoryCalls();
  const lines: unknown[] = [];
  const lost: number[] = [];
  const line =
    (level: string) =>
    (message: string, fields?: unknown): void =>
      void lines.push([level, message, fields]);
  const recorder = new CallRecorder({
    chain: 'c',
    settings: { ...getDefaultSettings(), ...settings },
    open: () => Promise.resolve(ok(store)),
    shown: (text) => ({ text: text.replaceAll('hunter2', '***'), isShortened: false }),
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    onLost: (calls) => lost.push(calls),
    nowMs: () => Date.UTC(2026, 10, 23),
    ...more,
  });
  return { recorder, store, lines, lost };
}

function entriesIn(store: MemoryCalls): readonly CallEntry[] {
  return store.record.entries;
}

function faultsIn(store: MemoryCalls): unknown {
  const check = new ChainCheck();
  for (const page of store.record.pages()) check.add(page);
  return check.report.faults;
}

describe('the call record', () => {
  it('writes nothing while calls end, and all of them at once soon after', async () => {
    const { recorder, store } = open();
    for (let nth = 0; nth < 5; nth++) recorder.add(finishedCall({ durationMs: nth }));
    expect(store.tries).toBe(0);
    await expect.poll(() => entriesIn(store), { timeout: 10_000 }).toHaveLength(5);
    expect(store.tries).toBe(1);
    expect(entriesIn(store)[3]).toEqual({
      kind: 'call',
      at: '2026-11-23T00:00:00.000Z',
      subject: 'ci',
      client: { name: 'probe', version: '1' },
      endpoint: 'all',
      tool: { publicName: 'files_read' },
      outcome: 'ok',
      durationMs: 3,
    });
  });

  it('writes queued calls when it is closed', async () => {
    const { recorder, store, lines } = open();
    for (let nth = 0; nth < 450; nth++) recorder.add(finishedCall());
    await recorder.close();
    expect(store.record.calls).toHaveLength(450);
    expect(faultsIn(store)).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('queues a limited number of calls while the store is down, and records how many it dropped', async () => {
    const { recorder, store, lines, lost } = open();
    store.isDown = true;
    for (let nth = 0; nth < MAX_WAITING + 7; nth++) recorder.add(finishedCall());
    expect(recorder.waiting).toBe(MAX_WAITING);
    await expect.poll(() => store.tries, { timeout: 10_000 }).toBeGreaterThan(0);
    store.isDown = false;
    await expect.poll(() => recorder.waiting, { timeout: 20_000 }).toBe(0);
    expect(store.record.calls).toHaveLength(MAX_WAITING + 1);
    expect(entriesIn(store).at(-1)).toMatchObject({ kind: 'dropped', count: 7 });
    expect(faultsIn(store)).toEqual([]);
    expect(lost).toEqual([7]);
    expect(lines).toMatchObject([
      ['error', 'activity: calls cannot be recorded now; the last ones are kept in memory', {}],
      ['info', 'activity: calls are recorded again', undefined],
      ['error', expect.stringContaining('did not take them in time'), { calls: 7 }],
    ]);
  });

  it('queues a limited size of arguments while the store is down', () => {
    const { recorder, store } = open({ 'activity.arguments': 'full' });
    store.isDown = true;
    const argumentsText = JSON.stringify('x'.repeat(60 * 1024));
    for (let nth = 0; nth < 1_000; nth++) recorder.add(finishedCall({ argumentsText }));
    expect(recorder.waiting * argumentsText.length).toBeLessThanOrEqual(16 * 1024 * 1024);
  });

  it('logs on close how many calls a failing store did not accept', async () => {
    const { recorder, store, lines } = open();
    store.isDown = true;
    for (let nth = 0; nth < 3; nth++) recorder.add(finishedCall());
    await recorder.close();
    expect(lines.at(-1)).toEqual(['error', 'activity: calls were not recorded', { calls: 3 }]);
  });

  it('discards calls without an error if there is no store', async () => {
    let opened = 0;
    const { recorder, lines } = open(
      {},
      {
        open: () => {
          opened += 1;
          return Promise.resolve(undefined);
        },
      },
    );
    recorder.add(finishedCall());
    await recorder.close();
    expect([opened, recorder.waiting, lines]).toEqual([1, 0, []]);
  });

  it('logs the error if opening the store throws', async () => {
    const { recorder, lines } = open({}, { open: () => Promise.reject(new Error('a bug')) });
    recorder.add(finishedCall());
    await recorder.close();
    expect(JSON.stringify(lines)).toContain('a bug');
  });

  it.each([
    ['none', undefined],
    ['masked', { bytes: 22, form: 'masked', isShortened: false, text: '{"password":"***"}' }],
    ['full', { bytes: 22, form: 'full', isShortened: false, text: '{"password":"hunter2"}' }],
  ] as const)('stores arguments as configured: %s', async (kind, args) => {
    const { recorder, store } = open({ 'activity.arguments': kind });
    recorder.add(finishedCall({ argumentsText: '{"password":"hunter2"}', argumentsBytes: 22 }));
    await recorder.close();
    expect(entriesIn(store)[0]).toEqual(
      expect.objectContaining(args === undefined ? {} : { arguments: args }),
    );
    expect(Object.hasOwn(entriesIn(store)[0] ?? {}, 'arguments')).toBe(args !== undefined);
  });

  it('stores a hash of the session id, since the id itself would open the session', async () => {
    const { recorder, store } = open();
    recorder.add(finishedCall({ sessionId: 'secret-session' }));
    await recorder.close();
    expect(JSON.stringify(store.record.calls)).not.toContain('secret-session');
    expect(entriesIn(store)[0]).toMatchObject({ session: expect.stringMatching(/^[\da-f]{16}$/) as string });
  });

  it('limits the size of client-controlled fields', async () => {
    const { recorder, store } = open({ 'activity.arguments': 'full' });
    const long = 'x'.repeat(60_000);
    const client = JSON.stringify({ name: long, version: long, more: long });
    recorder.add(
      finishedCall({ subject: long, publicName: long, client, endpoint: long, argumentsText: long }),
    );
    await recorder.close();
    expect(JSON.stringify(store.record.calls).length).toBeLessThan(20_000);
  });
});

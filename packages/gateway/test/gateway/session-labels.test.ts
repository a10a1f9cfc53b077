import { expect, it, vi } from 'vitest';
import { NO_LABELS, type SessionLabel } from '../../src/core/policy/policy.ts';
import { BOTH_LABELS } from '../../src/core/policy/session-labels.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { SessionLabels } from '../../src/gateway/catalog/session-labels.ts';
import type { Store } from '../../src/gateway/ports/store.ts';
import { endAfterEach } from '../../../../test/support/end-after-each.ts';
import { until } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { openAt } from '../../../../test/support/stores.ts';
import { readableAuditEvents, valueOf } from '../../../../test/support/store-values.ts';
import { SILENT } from './listed-server.ts';

endAfterEach();

const UNTRUSTED: ReadonlySet<SessionLabel> = new Set(['saw-untrusted']);
const PRIVATE: ReadonlySet<SessionLabel> = new Set(['saw-private']);
const HOUR_MS = 3_600_000;

/** A manual clock, shared by all processes. */
function clock(): { nowMs: () => number; pass: (ms: number) => void } {
  let atMs = 1_790_000_000_000;
  return {
    nowMs: () => atMs,
    pass: (ms) => {
      atMs += ms;
    },
  };
}

function labelsOn(store: () => Store | undefined, nowMs: () => number): SessionLabels {
  return new SessionLabels({
    open: () => {
      const open = store();
      return Promise.resolve(
        open === undefined ? err({ code: 'STORE_UNAVAILABLE', reason: 'the test says so' }) : ok(open),
      );
    },
    isKept: () => true,
    idleMs: () => HOUR_MS,
    nowMs,
    log: SILENT,
  });
}

it('labels apply at once, and on another replica once they are saved', async () => {
  const home = tempDir();
  const { nowMs, pass } = clock();
  const [store, other] = [
    await openAt({ home, databaseUrl: undefined }),
    await openAt({ home, databaseUrl: undefined }),
  ];
  const labels = labelsOn(() => store, nowMs);
  const saved = labels.add('ci', UNTRUSTED, 'web.fetch');
  expect([...labels.of('ci')]).toEqual(['saw-untrusted']);
  await saved;
  expect(labels.add('ci', UNTRUSTED, 'web.search')).toBeUndefined();
  pass(1);
  await labels.add('ci', PRIVATE, 'files.read');
  const replica = labelsOn(() => other, nowMs);
  expect(replica.of('ci')).toBe(NO_LABELS);
  expect(await replica.read('ci')).toBe(BOTH_LABELS);
  expect(await replica.read('deploy')).toBe(NO_LABELS);
  expect(valueOf(await replica.list()).map(({ label, source }) => `${label} ${source}`)).toEqual([
    'saw-untrusted web.fetch',
    'saw-private files.read',
  ]);
});

it('labels expire after an hour without a call on any replica', async () => {
  const home = tempDir();
  const { nowMs, pass } = clock();
  const store = await openAt({ home, databaseUrl: undefined });
  const [labels, replica] = [labelsOn(() => store, nowMs), labelsOn(() => store, nowMs)];
  await labels.add('ci', BOTH_LABELS, 'web.fetch');
  expect(await replica.read('ci')).toBe(BOTH_LABELS);
  for (let calls = 0; calls < 3; calls += 1) {
    pass(HOUR_MS / 2);
    labels.calls('ci', true);
  }
  await labels.close();
  expect(await replica.read('ci')).toBe(BOTH_LABELS);
  pass(HOUR_MS);
  expect(replica.of('ci')).toBe(BOTH_LABELS);
  pass(61_000);
  expect([labels.of('ci'), replica.of('ci'), await replica.read('ci')]).toEqual([
    NO_LABELS,
    NO_LABELS,
    NO_LABELS,
  ]);
  expect(valueOf(await replica.list())).toEqual([]);
  await labels.add('other', UNTRUSTED, 'web.fetch');
  expect(valueOf(await store.labels()).labels.map(({ subject }) => subject)).toEqual(['other']);
});

it('calls extend labels that their process has not read yet, and do not restore expired ones', async () => {
  const { nowMs, pass } = clock();
  const store = await openAt({ home: tempDir(), databaseUrl: undefined });
  const first = labelsOn(() => store, nowMs);
  await first.add('idle', BOTH_LABELS, 'web.fetch');
  pass(HOUR_MS);
  await first.add('ci', BOTH_LABELS, 'web.fetch');
  const storedMs = nowMs();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let isAway = false;
  const restarted = labelsOn(() => (isAway ? undefined : store), nowMs);
  const callFor70Minutes = (): void => {
    for (let calls = 0; calls < 14; calls += 1) {
      pass(HOUR_MS / 12);
      restarted.calls('ci', true);
      restarted.calls('idle', true);
    }
  };
  callFor70Minutes();
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  await until('the calls are written', async () =>
    valueOf(await store.labels('ci')).labels.every(({ seenMs }) => seenMs > storedMs) ? true : undefined,
  );
  const replica = labelsOn(() => store, nowMs);
  expect(await replica.read('ci')).toBe(BOTH_LABELS);
  expect(await replica.read('idle')).toBe(NO_LABELS);
  // By the second time, the process has read the labels of "ci".
  for (let times = 0; times < 2; times += 1) {
    isAway = true;
    callFor70Minutes();
    isAway = false;
    expect(await restarted.read('ci')).toBe(BOTH_LABELS);
    await restarted.list(); // writes all calls
  }
  expect(await restarted.read('idle')).toBe(NO_LABELS);
  await restarted.close();
  expect(valueOf(await store.labels()).labels.map(({ subject }) => subject)).toEqual(['ci', 'ci']);
});

it('the name of the tool that set a label is shortened', async () => {
  const { nowMs } = clock();
  const store = await openAt({ home: tempDir(), databaseUrl: undefined });
  await labelsOn(() => store, nowMs).add('ci', UNTRUSTED, `web.${'x'.repeat(100_000)}`);
  const [label] = valueOf(await store.labels()).labels;
  expect(label?.source).toBe(`web.${'x'.repeat(196)}…`);
});

it('a result waits until a label that an earlier result just set is saved', async () => {
  const { nowMs } = clock();
  const store = await openAt({ home: tempDir(), databaseUrl: undefined });
  const labels = labelsOn(() => store, nowMs);
  void labels.add('ci', UNTRUSTED, 'web.fetch');
  await labels.add('ci', UNTRUSTED, 'web.search');
  expect(valueOf(await store.labels()).labels.map(({ source }) => source)).toEqual(['web.fetch']);
  expect(labels.add('ci', UNTRUSTED, 'web.search')).toBeUndefined();
});

it("an operator clears a subject's labels in every process, and a late write does not restore them", async () => {
  const home = tempDir();
  const { nowMs, pass } = clock();
  const store = await openAt({ home, databaseUrl: undefined });
  const other = await openAt({ home, databaseUrl: undefined });
  const [labels, replica] = [labelsOn(() => store, nowMs), labelsOn(() => other, nowMs)];
  await labels.add('ci', BOTH_LABELS, 'web.fetch');
  await replica.read('ci');
  expect((await replica.clear('ci', 'alice')).ok).toBe(true);
  await until('the labels are cleared', () => (labels.of('ci') === NO_LABELS ? true : undefined));
  pass(120_000);
  labels.calls('ci', true);
  await labels.close();
  expect(valueOf(await store.labels()).labels).toEqual([]);
  expect(await replica.clear('ci', 'alice')).toEqual({
    ok: false,
    error: { code: 'LABELS_UNKNOWN', subject: 'ci' },
  });
  const events = await readableAuditEvents(store, { limit: 9 });
  expect(events.map(({ subject, action, target, before }) => ({ subject, action, target, before }))).toEqual([
    {
      subject: 'alice',
      action: 'labels.clear',
      target: { kind: 'subject', id: 'ci', name: 'ci' },
      before: ['saw-private', 'saw-untrusted'],
    },
  ]);
});

it('both labels apply while the store is unavailable, and new ones are saved when it is back', async () => {
  const home = tempDir();
  const { nowMs } = clock();
  const store = await openAt({ home, databaseUrl: undefined });
  let isAway = true;
  const labels = labelsOn(() => (isAway ? undefined : store), nowMs);
  expect(await labels.read('deploy')).toBe(BOTH_LABELS);
  await labels.add('ci', UNTRUSTED, 'web.fetch');
  expect([...labels.of('ci')]).toEqual(['saw-untrusted']);
  isAway = false;
  expect(await labels.read('deploy')).toBe(NO_LABELS);
  expect([...(await labels.read('ci'))]).toEqual(['saw-untrusted']);
  await labels.close();
  expect(valueOf(await store.labels()).labels).toHaveLength(1);
});

it('memory is limited, and a subject that may have been evicted counts as having both labels', async () => {
  const { nowMs } = clock();
  const labels = labelsOn(() => undefined, nowMs);
  for (let no = 0; no < 10_001; no += 1) void labels.add(`s${no}`, UNTRUSTED, 'web.fetch');
  expect([...labels.of('s10000')]).toEqual(['saw-untrusted']);
  expect(labels.of('somebody')).toBe(BOTH_LABELS);
  await labels.close();
});

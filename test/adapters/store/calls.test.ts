import { describe, expect, it } from 'vitest';
import { ChainCheck } from '../../../src/core/activity/call-chain.ts';
import {
  streamCalls,
  listRecentCalls,
  verifyCalls,
} from '../../../src/gateway/services/activity/call-history.ts';
import { type Json, numberAt } from '../../support/json.ts';
import type { CallQuery, Retention } from '../../../src/gateway/ports/call-log.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { batchOf, chained, droppedCalls, recordedCall, stored } from '../../support/call-values.ts';
import { endAfterEach } from '../../support/end-after-each.ts';
import { DATABASES, openAt, rawRows } from '../../support/stores.ts';
import { valueOf } from '../../support/store-values.ts';

endAfterEach();

const KEEP_ALL: Retention = { maxCalls: 1_000, sinceMs: 0 };

describe.each(DATABASES)('the call record of a store in %s', (_database, newPlace) => {
  it('returns entries as written, with any text, even after reopening', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const odd = 'a\u0000b \ud800 🎉 "\\u0000" é\u2028';
    const entries = chained('c', [
      recordedCall(1, { subject: odd, tool: { publicName: odd }, endpoint: odd }),
      droppedCalls(2, 7),
    ]);
    valueOf(await store.addCalls(batchOf(entries), KEEP_ALL));
    await store.close();
    const { entries: found } = valueOf(await (await openAt(place)).calls({ after: 0, limit: 10 }));
    expect(found).toEqual(stored(entries));
    const check = new ChainCheck();
    check.add(found, { prunedId: 0, lastId: 2 });
    expect(check.report.faults).toEqual([]);
  });

  it('counts calls by time, decision and outcome', async () => {
    const store = await openAt(await newPlace());
    const entries = chained('c', [
      recordedCall(1),
      recordedCall(2, { outcome: 'tool_error' }),
      recordedCall(3),
      droppedCalls(4, 7),
    ]);
    valueOf(await store.addCalls(batchOf(entries), KEEP_ALL));
    const sinceMs = entries[1]?.atMs ?? 0;
    const slotMs = (entries[2]?.atMs ?? 0) - sinceMs;
    const counts = valueOf(await store.callCounts({ sinceMs, slotMs, slotCount: 2 }));
    expect(counts.toSorted((one, other) => one.slot - other.slot)).toEqual([
      { slot: 0, decision: 'allow', outcome: 'tool_error', count: 1 },
      { slot: 1, decision: 'allow', outcome: 'ok', count: 1 },
    ]);
  });

  it('is read in pages, filtered by subject, server, tool, decision, outcome and time', async () => {
    const store = await openAt(await newPlace());
    const refused = { decision: { kind: 'refuse', reasons: [] }, outcome: 'CALL_REFUSED' } as const;
    const entries = chained('c', [
      recordedCall(1),
      recordedCall(2, { subject: 'anna', ...refused }),
      recordedCall(3, { tool: { publicName: 'gone' }, outcome: 'TOOL_UNKNOWN' }),
      recordedCall(4, { tool: { publicName: 'm_add', namespacedName: 'memory.add', server: 'memory' } }),
    ]);
    valueOf(await store.addCalls(batchOf(entries), KEEP_ALL));
    const ids = async (query: Omit<CallQuery, 'limit'>, limit = 10): Promise<readonly number[]> =>
      valueOf(await store.calls({ ...query, limit })).entries.map(({ id }) => id);
    expect(await ids({}, 3)).toEqual([4, 3, 2]);
    expect(await ids({ before: 2 })).toEqual([1]);
    expect(await ids({ after: 2 })).toEqual([3, 4]);
    expect(await ids({ subject: 'anna' })).toEqual([2]);
    expect(await ids({ server: 'memory' })).toEqual([4]);
    expect(await ids({ tool: 'gone' })).toEqual([3]);
    expect(await ids({ tool: 'files.read', decision: 'allow' })).toEqual([1]);
    expect(await ids({ outcome: 'CALL_REFUSED' })).toEqual([2]);
    const times = entries.map(({ atMs }) => atMs);
    expect(await ids({ sinceMs: times[1], untilMs: times[3] })).toEqual([3, 2]);
  });

  it('removes the oldest entries beyond its limits, and reports the last removed id', async () => {
    const store = await openAt(await newPlace());
    const entries = chained(
      'c',
      Array.from({ length: 10 }, (_, nth) => recordedCall(nth)),
    );
    valueOf(await store.addCalls(batchOf(entries.slice(0, 6)), { maxCalls: 4, sinceMs: 0 }));
    expect(await idsOf(store)).toEqual({ ids: [3, 4, 5, 6], prunedId: 2, lastId: 6 });
    valueOf(
      await store.addCalls(batchOf(entries.slice(6)), { maxCalls: 1_000, sinceMs: entries[7]?.atMs ?? 0 }),
    );
    expect(await idsOf(store)).toEqual({ ids: [8, 9, 10], prunedId: 7, lastId: 10 });
    valueOf(await store.addCalls(batchOf([]), { maxCalls: 1, sinceMs: 0 }));
    expect(await idsOf(store)).toEqual({ ids: [10], prunedId: 9, lastId: 10 });
  });

  it('writes entries once, however often the write is retried', async () => {
    const store = await openAt(await newPlace());
    const entries = chained(
      'c',
      [1, 2, 3].map((nth) => recordedCall(nth)),
    );
    valueOf(await store.addCalls(batchOf(entries.slice(0, 2)), KEEP_ALL));
    valueOf(await store.addCalls(batchOf(entries), KEEP_ALL));
    expect(await idsOf(store)).toEqual({ ids: [1, 2, 3], prunedId: 0, lastId: 3 });
  });

  it('numbers the entries of several writers without gaps, and notifies each of new ones', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const notified = new Set<number>();
    for (const [at, store] of stores.entries())
      store.onChange((parts) => (parts.includes('calls') ? notified.add(at) : undefined));
    await Promise.all(
      stores.map(async (store, at) => {
        const entries = chained(
          `chain ${at}`,
          Array.from({ length: 20 }, (_, nth) => recordedCall(nth)),
        );
        for (let from = 0; from < 20; from += 4)
          valueOf(await store.addCalls(batchOf(entries.slice(from, from + 4)), KEEP_ALL));
      }),
    );
    const [store = expect.unreachable()] = stores;
    const { entries, ...bounds } = valueOf(await store.calls({ after: 0, limit: 100 }));
    const check = new ChainCheck();
    check.add(entries, bounds);
    check.add([], bounds);
    expect(check.report).toEqual({ entries: 40, chains: 2, dropped: 0, faults: [], faultCount: 0 });
    await expect.poll(() => [...notified].sort(), { timeout: 10_000 }).toEqual([0, 1]);
  });

  it.each([
    "subject_json = 'x'",
    "tool_json = '{'",
    "entry_json = 'x'",
    "entry_json = ''",
    `entry_json = '{"kind":"call"}'`,
    "previous = ''",
    'seq = 0',
    'at_ms = 9007199254740991',
  ])('lists and checks the other entries after another program set %s', async (change) => {
    const place = await newPlace();
    const store = await openAt(place);
    const entries = [1, 2, 3].map((nth) => recordedCall(nth));
    valueOf(await store.addCalls(batchOf(chained('c', entries)), KEEP_ALL));
    await rawRows(place, `update assay_calls set ${change} where id = 2`);
    const { calls } = valueOf(await listRecentCalls(store, { limit: 10 }));
    const second = change.startsWith('entry') ? 'unreadable' : 'call';
    expect(calls.map(({ id, kind }) => `${id} ${kind}`)).toEqual(['3 call', `2 ${second}`, '1 call']);
    let exported = '';
    for await (const page of streamCalls(store, {})) exported += valueOf(page);
    const lines = exported.trimEnd().split('\n');
    expect(lines.map((line) => numberAt(JSON.parse(line) as Json, 'id'))).toEqual([1, 2, 3]);
    const { faults } = valueOf(await verifyCalls(store));
    expect(faults.map(({ id }) => id)).toContain(2);
  });

  it('reveals changes that another program made to its table', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    valueOf(
      await store.addCalls(
        batchOf(
          chained(
            'c',
            [1, 2, 3].map((nth) => recordedCall(nth)),
          ),
        ),
        KEEP_ALL,
      ),
    );
    await rawRows(place, "update assay_calls set outcome = 'error' where id = 1");
    await rawRows(place, 'delete from assay_calls where id = 3');
    const check = new ChainCheck();
    const { entries, ...bounds } = valueOf(await store.calls({ after: 0, limit: 100 }));
    check.add(entries, bounds);
    check.add([], bounds);
    expect(check.report.faults).toEqual([
      { code: 'row_changed', id: 1 },
      { code: 'entries_missing', id: 3, count: 1 },
    ]);
  });
});

async function idsOf(store: Store): Promise<unknown> {
  const { entries, ...bounds } = valueOf(await store.calls({ after: 0, limit: 100 }));
  return { ids: entries.map(({ id }) => id), ...bounds };
}

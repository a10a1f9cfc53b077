import { describe, expect, it } from 'vitest';
import type { ChainFault } from '../../../src/core/activity/call-chain.ts';
import { type CallEntry, readCallEntry } from '../../../src/core/activity/call-entry.ts';
import {
  streamCalls,
  listRecentCalls,
  verifyCalls,
} from '../../../src/gateway/services/activity/call-history.ts';
import { numberAt, parseJson } from '../../../../../test/support/json.ts';
import type { CallQuery, Retention } from '../../../src/gateway/ports/call-log.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { batchOf, droppedCalls, recordedCall } from '../../../../../test/support/call-values.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';

endAfterEach();

const KEEP_ALL: Retention = { maxCalls: 10_000, sinceMs: 0 };

async function faultsOf(store: Store): Promise<readonly ChainFault[]> {
  return valueOf(await verifyCalls(store)).faults;
}

/** Adds entries as batches of this size. */
async function addAll(store: Store, entries: readonly CallEntry[], size = entries.length): Promise<void> {
  let previous: string | undefined;
  for (let from = 0; from < entries.length; from += size) {
    const place = { number: from / size + 1, ...(previous !== undefined && { previous }) };
    previous = valueOf(await store.addCalls(batchOf(entries.slice(from, from + size), place), KEEP_ALL));
  }
}

function calls(count: number): readonly CallEntry[] {
  return Array.from({ length: count }, (_, nth) => recordedCall(nth + 1));
}

describe.each(DATABASES)('the call record of a store in %s', (_database, newPlace) => {
  it('returns entries as written, with any text, even after reopening', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const odd = 'a\u0000b \ud800 🎉 "\\u0000" é\u2028';
    const entries = [
      recordedCall(1, {
        ...{ subject: odd, tool: { publicName: odd }, endpoint: odd, session: 'ab' },
        approval: { id: 'a', by: odd, scope: 'once' },
        arguments: { bytes: 2, form: 'full', isShortened: false, text: odd },
      }),
      droppedCalls(2, 7),
      recordedCall(3),
    ];
    await addAll(store, entries);
    await store.close();
    const again = await openAt(place);
    const { calls: found } = valueOf(await again.calls({ after: 0, limit: 10 }));
    expect(found.map((call) => readCallEntry(call, call.context?.text ?? ''))).toEqual(entries);
    expect(found.map(({ id, batch: { chain, number } }) => [id, chain, number])).toEqual([
      [1, 'c', 1],
      [2, 'c', 1],
      [3, 'c', 1],
    ]);
    expect(await faultsOf(again)).toEqual([]);
  });

  it('counts calls by minute, decision and outcome', async () => {
    const store = await openAt(await newPlace());
    // A minute has 60 of them.
    const entries = [
      ...[recordedCall(1), recordedCall(60), recordedCall(61, { outcome: 'tool_error' })],
      ...[recordedCall(125), recordedCall(179), recordedCall(240), droppedCalls(63, 7), recordedCall(300)],
    ];
    await addAll(store, entries, 3);
    const sinceMinute = Date.UTC(2026, 10, 23, 20, 1) / 60_000;
    const counts = valueOf(await store.callCounts({ sinceMinute, slotMinutes: 2, slotCount: 2 }));
    expect(counts.toSorted((one, other) => one.slot - other.slot || other.count - one.count)).toEqual([
      { slot: 0, decision: 'allow', outcome: 'ok', count: 3 },
      { slot: 0, decision: 'allow', outcome: 'tool_error', count: 1 },
      { slot: 1, decision: 'allow', outcome: 'ok', count: 1 },
    ]);
  });

  it('is read in pages, filtered by subject, server, tool, decision, outcome and time', async () => {
    const store = await openAt(await newPlace());
    const refused = { decision: { kind: 'refuse', reasons: [] }, outcome: 'CALL_REFUSED' } as const;
    const entries = [
      recordedCall(1),
      recordedCall(2, { subject: 'anna', ...refused }),
      recordedCall(3, { tool: { publicName: 'gone' }, outcome: 'TOOL_UNKNOWN' }),
      recordedCall(4, { tool: { publicName: 'm_add', namespacedName: 'memory.add', server: 'memory' } }),
    ];
    await addAll(store, entries, 3);
    const ids = async (query: Omit<CallQuery, 'limit'>, limit = 10): Promise<readonly number[]> =>
      valueOf(await store.calls({ ...query, limit })).calls.map(({ id }) => id);
    expect(await ids({}, 3)).toEqual([4, 3, 2]);
    expect(await ids({ before: 2 })).toEqual([1]);
    expect(await ids({ after: 2 })).toEqual([3, 4]);
    expect(await ids({ id: 3 })).toEqual([3]);
    expect(await ids({ id: 9 })).toEqual([]);
    expect(await ids({ subject: 'anna' })).toEqual([2]);
    expect(await ids({ subject: 'ci' }, 2)).toEqual([4, 3]);
    expect(await ids({ subject: 'ci', before: 4 }, 1)).toEqual([3]);
    expect(await ids({ subject: 'ci', after: 1 })).toEqual([3, 4]);
    expect(await ids({ server: 'memory' })).toEqual([4]);
    expect(await ids({ tool: 'gone' })).toEqual([3]);
    expect(await ids({ tool: 'files.read', decision: 'allow' })).toEqual([1]);
    expect(await ids({ outcome: 'CALL_REFUSED' })).toEqual([2]);
    expect(await ids({ subject: 'nobody' })).toEqual([]);
    const times = entries.map(({ at }) => Date.parse(at));
    expect(await ids({ sinceMs: times[1], untilMs: times[3] })).toEqual([3, 2]);
    expect(await ids({ subject: 'ci', sinceMs: times[1], untilMs: times[3] })).toEqual([3]);
  });

  it('finds calls of a span of time, even if a late process wrote earlier calls', async () => {
    const store = await openAt(await newPlace());
    const entries = [recordedCall(5), recordedCall(1), recordedCall(3), recordedCall(9)];
    await addAll(store, entries, 1);
    const msOf = (at: number): number => Date.parse(entries[at]?.at ?? '');
    const ids = async (query: Omit<CallQuery, 'limit'>): Promise<readonly number[]> =>
      valueOf(await store.calls({ ...query, limit: 9 })).calls.map(({ id }) => id);
    expect(await ids({ untilMs: msOf(0) })).toEqual([3, 2]);
    expect(await ids({ sinceMs: msOf(2), untilMs: msOf(3) })).toEqual([3, 1]);
    expect(await ids({ subject: 'ci', sinceMs: msOf(2) })).toEqual([4, 3, 1]);
    expect(await ids({ sinceMs: msOf(3) + 1 })).toEqual([]);
  });

  it('filters by more contexts than are read one by one', async () => {
    const store = await openAt(await newPlace());
    const entries = Array.from({ length: 1_100 }, (_, nth) =>
      recordedCall(nth, { client: { name: `client ${nth}` }, ...(nth === 5 && { outcome: 'error' }) }),
    );
    await addAll(store, entries, 550);
    const ids = async (query: Omit<CallQuery, 'limit'>): Promise<readonly number[]> =>
      valueOf(await store.calls({ ...query, limit: 2 })).calls.map(({ id }) => id);
    expect(await ids({ subject: 'ci' })).toEqual([1_100, 1_099]);
    expect(await ids({ subject: 'ci', before: 2 })).toEqual([1]);
    expect(await ids({ outcome: 'error' })).toEqual([6]);
  });

  it('keeps a limited number of contexts, and finds further calls by the same filters', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const nameOf = (nth: number): string => `t${nth}`;
    const entries = Array.from({ length: 2_600 }, (_, nth) =>
      recordedCall(nth, { tool: { publicName: nameOf(nth) }, outcome: 'TOOL_UNKNOWN' }),
    );
    await addAll(store, entries, 1_000);
    // Another subject still gets rows of its own.
    valueOf(
      await store.addCalls(batchOf([recordedCall(3_000, { subject: 'anna' })], { chain: 'd' }), KEEP_ALL),
    );
    const [row] = await rawRows(place, 'select count(*) as contexts from assay_call_contexts');
    expect(Number((row as { readonly contexts: unknown }).contexts)).toBe(2_002);
    for (const nth of [7, 2_599])
      expect(
        valueOf(await store.calls({ tool: nameOf(nth), subject: 'ci', limit: 2 })).calls.map((call) =>
          readCallEntry(call, call.context?.text ?? ''),
        ),
      ).toEqual([entries[nth]]);
    const { calls: newest } = valueOf(await store.calls({ outcome: 'TOOL_UNKNOWN', limit: 3 }));
    expect(newest.map(({ id }) => id)).toEqual([2_600, 2_599, 2_598]);
    expect(await faultsOf(store)).toEqual([]);
    await rawRows(place, `update assay_other_calls set tool_json = '"x"' where id = 2500`);
    await rawRows(place, 'update assay_other_calls set at_ms = at_ms + 1 where id = 2501');
    expect((await faultsOf(store)).map((fault) => [fault.code, 'id' in fault && fault.id])).toEqual([
      ['row_changed', 2_500],
      ['row_changed', 2_501],
    ]);
  });

  it('removes the oldest batches beyond its limits, with what only they name', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const entries = [
      ...[recordedCall(1, { subject: 'gone' }), recordedCall(2), recordedCall(3)],
      ...[recordedCall(4), recordedCall(100), recordedCall(101)],
    ];
    await addAll(store, entries, 2);
    const removeBy = async (retention: Retention): Promise<unknown> => {
      valueOf(await store.addCalls(batchOf([], { chain: 'none' }), retention));
      const { calls: found, ...bounds } = valueOf(await store.calls({ after: 0, limit: 100 }));
      expect(await faultsOf(store)).toEqual([]);
      return { ids: found.map(({ id }) => id), ...bounds };
    };
    expect(await removeBy({ maxCalls: 5, sinceMs: 0 })).toEqual({
      ...{ ids: [1, 2, 3, 4, 5, 6], prunedId: 0, lastId: 6 },
    });
    expect(await removeBy({ maxCalls: 4, sinceMs: 0 })).toEqual({
      ids: [3, 4, 5, 6],
      prunedId: 2,
      lastId: 6,
    });
    expect(await removeBy({ maxCalls: 1_000, sinceMs: Date.parse(entries[4]?.at ?? '') })).toEqual({
      ...{ ids: [5, 6], prunedId: 4, lastId: 6 },
    });
    expect(await removeBy({ maxCalls: 1, sinceMs: 0 })).toEqual({ ids: [5, 6], prunedId: 4, lastId: 6 });
    const left = await rawRows(place, 'select subject_json from assay_call_contexts');
    expect(left).toEqual([{ subject_json: '"ci"' }]);
    const minutes = await rawRows(place, 'select count from assay_call_minutes');
    expect(minutes.map((row) => Number((row as { readonly count: unknown }).count))).toEqual([2]);
  });

  it('writes a batch once, however often the write is retried', async () => {
    const store = await openAt(await newPlace());
    const batch = batchOf(calls(2));
    const hash = valueOf(await store.addCalls(batch, KEEP_ALL));
    expect(valueOf(await store.addCalls(batch, KEEP_ALL))).toBe(hash);
    const { calls: found, lastId } = valueOf(await store.calls({ limit: 10 }));
    expect([found.length, lastId]).toEqual([2, 2]);
  });

  it('numbers the calls of several writers without gaps, and notifies each of new ones', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const notified = new Set<number>();
    for (const [at, store] of stores.entries())
      store.onChange((parts) => (parts.includes('calls') ? notified.add(at) : undefined));
    await Promise.all(
      stores.map(async (store, at) => {
        let previous: string | undefined;
        for (let number = 1; number <= 5; number += 1) {
          const batch = batchOf(calls(4), {
            chain: `${at}`,
            number,
            ...(previous !== undefined && { previous }),
          });
          previous = valueOf(await store.addCalls(batch, KEEP_ALL));
        }
      }),
    );
    const [store = expect.unreachable()] = stores;
    expect(valueOf(await verifyCalls(store))).toEqual({
      ...{ entries: 40, batches: 10, chains: 2, dropped: 0, faults: [], faultCount: 0 },
    });
    await expect.poll(() => [...notified].sort(), { timeout: 10_000 }).toEqual([0, 1]);
  });

  it.each([
    ['assay_calls', 'context = 99'],
    ['assay_calls', 'at_ms = 1'],
    ['assay_calls', 'at_ms = 9007199254740991'],
    ['assay_calls', 'tenths = 1'],
    ['assay_calls', "session = 'x'"],
    ['assay_calls', "details_json = 'x'"],
    ['assay_calls', 'id = 7'],
    ['assay_call_contexts', "hash = 'x'"],
    ['assay_call_uses', 'context = 9'],
    ['assay_call_uses', 'batch = 9'],
    ['assay_call_contexts', "subject_json = 'x'"],
    ['assay_call_contexts', `subject_json = '"x"'`],
    ['assay_call_contexts', "server_json = '{'"],
    ['assay_call_contexts', 'tool_json = null'],
    ['assay_call_contexts', "decision = 'ask'"],
    ['assay_call_contexts', "outcome = 'error'"],
    ['assay_call_contexts', "context_json = ''"],
    ['assay_call_contexts', `context_json = '{"kind":"call"}'`],
    ['assay_call_contexts', 'id = 7'],
    ['assay_call_batches', "chain = 'x'"],
    ['assay_call_batches', 'number = 5'],
    ['assay_call_batches', 'first_call = 9'],
    ['assay_call_batches', 'count = 2'],
    ['assay_call_batches', "previous = ''"],
    ['assay_call_batches', "hash = ''"],
    ['assay_call_batches', 'id = 7'],
    ['assay_call_batches', 'min_ms = 7'],
    ['assay_call_batches', 'max_ms = 7'],
    ['assay_call_minutes', 'minute = 1'],
    ['assay_call_minutes', "decision = 'x'"],
    ['assay_call_minutes', "outcome = 'x'"],
    ['assay_call_minutes', 'count = 9'],
    ['assay_call_state', 'last_call = 4'],
    ['assay_call_state', 'last_call = 2'],
    ['assay_call_state', 'pruned_call = 1'],
    ['assay_call_state', 'last_batch = 4'],
  ])(
    'reveals that another program changed a row of %s: %s, and lists the other calls',
    async (table, change) => {
      const place = await newPlace();
      const store = await openAt(place);
      const entries = [recordedCall(1), recordedCall(2, { subject: 'anna' }), recordedCall(3)];
      await addAll(store, entries, 1);
      expect(await faultsOf(store)).toEqual([]);
      const which = table === 'assay_call_uses' ? 'where batch = 2' : 'where id = 2';
      const of = table === 'assay_call_state' || table === 'assay_call_minutes' ? '' : which;
      await rawRows(place, `update ${table} set ${change} ${of}`);
      expect(await faultsOf(store)).not.toEqual([]);
      const { calls: listed } = valueOf(await listRecentCalls(store, { limit: 10 }));
      expect(listed).toHaveLength(3);
      expect(listed.filter(({ id, kind }) => kind === 'call' && id !== 2)).toHaveLength(
        change === 'id = 7' && table === 'assay_calls' ? 3 : 2,
      );
      let exported = '';
      for await (const page of streamCalls(store, { outcome: 'ok' })) exported += valueOf(page);
      const lines = exported.trimEnd().split('\n');
      expect(lines.map((line) => numberAt(parseJson(line), 'id'))).toEqual(expect.arrayContaining([1, 3]));
    },
  );
});

import { describe, expect, it } from 'vitest';
import {
  type BatchPage,
  ChainCheck,
  type ChainFault,
  hashBatch,
  type StoredBatch,
  type StoredCall,
} from '../../../src/core/activity/call-chain.ts';
import {
  batchOf,
  droppedCalls,
  MemoryRecord,
  recordedCall,
} from '../../../../../test/support/call-values.ts';

/** Batches of two processes that take turns: calls 1 to 7, of which the sixth is a gap. */
const RECORD = new MemoryRecord();
const one = RECORD.add(batchOf([recordedCall(1), recordedCall(2, { subject: 'anna' })], { chain: 'one' }));
const other = RECORD.add(batchOf([recordedCall(3)], { chain: 'other' }));
const second = RECORD.add(
  batchOf([recordedCall(4), recordedCall(5)], { chain: 'one', number: 2, previous: one }),
);
RECORD.add(batchOf([droppedCalls(6, 12)], { chain: 'other', number: 2, previous: other }));
RECORD.add(batchOf([recordedCall(7)], { chain: 'one', number: 3, previous: second }));
const { batches: BATCHES, calls: CALLS } = RECORD;

interface Rows extends Omit<BatchPage, 'batches' | 'calls'> {
  readonly batches: readonly StoredBatch[];
  readonly calls: readonly StoredCall[];
}

/** Checks these rows in pages of two batches. */
function checked(rows: Partial<Rows> = {}): ChainCheck {
  const { batches = BATCHES, calls = CALLS, minutes = RECORD.minutes, ...rest } = rows;
  const { uses } = RECORD;
  const bounds = {
    prunedId: 0,
    lastId: 7,
    lastBatch: 5,
    otherFacts: new Map<number, never>(),
    uses,
    ...rest,
  };
  const check = new ChainCheck();
  for (;;) {
    const { lastBatch, lastId } = check.position;
    const page = batches
      .filter(({ id }) => id > lastBatch)
      .toSorted((a, b) => a.id - b.id)
      .slice(0, 2);
    const last = page.at(-1);
    const end = last === undefined ? Number.POSITIVE_INFINITY : last.first + last.count - 1;
    const from = Math.max(lastId, bounds.prunedId);
    const some = calls.filter(({ id }) => id > from && id <= end);
    check.add({ ...bounds, batches: page, calls: some, ...(last === undefined && { minutes }) });
    if (last === undefined) return check;
  }
}

function faultsIn(rows: Partial<Rows>): readonly ChainFault[] {
  return checked(rows).report.faults;
}

function withCall(id: number, change: (call: StoredCall) => Partial<StoredCall>): Partial<Rows> {
  return { calls: CALLS.map((call) => (call.id === id ? { ...call, ...change(call) } : call)) };
}

function withBatch(id: number, change: (batch: StoredBatch) => Partial<StoredBatch>): Partial<Rows> {
  return { batches: BATCHES.map((batch) => (batch.id === id ? { ...batch, ...change(batch) } : batch)) };
}

/** The batch with its hash computed again over these rows. */
function rehashed(id: number, rows: Partial<Rows>): Partial<Rows> {
  const { calls = CALLS, batches = BATCHES } = rows;
  return {
    calls,
    batches: batches.map((batch) => {
      const own = calls.filter(({ id: call }) => call >= batch.first && call < batch.first + batch.count);
      const entries = own.map((call) => ({ ...call, context: call.context ?? { text: '' } }));
      return batch.id === id ? { ...batch, hash: hashBatch(batch, entries) } : batch;
    }),
  };
}

describe('a chain of batches', () => {
  it('is complete if several processes take turns writing', () => {
    expect(checked().report).toEqual({
      ...{ entries: 7, batches: 5, chains: 2, dropped: 12, faults: [], faultCount: 0 },
    });
  });

  it.each<[what: string, change: (call: StoredCall) => Partial<StoredCall>]>([
    ['time', ({ atMs }) => ({ atMs: atMs + 1 })],
    ['duration', () => ({ tenths: 9 })],
    ['session', () => ({ session: 'other' })],
    ['details', () => ({ details: '{"approval":{"by":"me","id":"a","scope":"once"}}' })],
    ['context', () => ({ context: CALLS[1]?.context })],
  ])('reveals a call whose %s was changed', (_, change) => {
    const found = faultsIn(withCall(4, change));
    expect(found).toContainEqual({ code: 'batch_changed', batch: 3, first: 4, last: 5 });
  });

  it('reveals a changed context, by each batch that names it', () => {
    const calls = CALLS.map((call): StoredCall =>
      call.context === undefined
        ? call
        : { ...call, context: { ...call.context, text: call.context.text.replace('anna', 'bert') } },
    );
    expect(faultsIn({ calls })).toContainEqual({ code: 'batch_changed', batch: 1, first: 1, last: 2 });
  });

  it('reveals a batch that was changed and rehashed, by the batch after it', () => {
    const found = faultsIn(
      rehashed(
        3,
        withCall(4, () => ({ tenths: 9 })),
      ),
    );
    expect(found).toEqual([{ code: 'batch_inserted', batch: 5, first: 7, last: 7 }]);
  });

  it.each([
    { subject: 'nobody' },
    { server: 'other' },
    { tool: 'files.write' },
    { decision: 'refuse' as const },
    { outcome: 'error' },
  ])('reveals a context whose columns contradict its text: %j', (facts) => {
    const found = faultsIn(
      withCall(4, ({ context = expect.unreachable() }) => ({
        context: { ...context, facts: { ...context.facts, ...facts } },
      })),
    );
    expect(found).toEqual([{ code: 'row_changed', id: 4, batch: 3 }]);
  });

  it('reveals a context with another hash, or with columns that cannot be read', () => {
    for (const change of [{ hash: 'ab' }, { facts: undefined }])
      expect(
        faultsIn(
          withCall(4, ({ context = expect.unreachable() }) => ({ context: { ...context, ...change } })),
        ),
      ).toEqual([{ code: 'row_changed', id: 4, batch: 3 }]);
  });

  it('reveals that calls would not be found by their context, or by others', () => {
    for (const contexts of [[], [1, 2]])
      expect(faultsIn({ uses: new Map([...RECORD.uses, [3, contexts]]) })).toEqual([
        { code: 'batch_changed', batch: 3, first: 4, last: 5 },
      ]);
  });

  it('reveals changed counts', () => {
    const [first = expect.unreachable(), ...rest] = RECORD.minutes;
    for (const minutes of [rest, [{ ...first, count: first.count + 1 }, ...rest]])
      expect(faultsIn({ minutes })).toEqual([{ code: 'counts_changed', minute: '2026-11-23T20:00:00.000Z' }]);
  });

  it.each<[id: number, last: number]>([
    [1, 2],
    [2, 2],
    [4, 5],
    [6, 6],
    [7, 7],
  ])('reveals that call %i was removed', (id, last) => {
    const found = faultsIn({ calls: CALLS.filter((call) => call.id !== id) });
    expect(found).toContainEqual({ code: 'entries_missing', id: last, count: 1 });
  });

  it('reveals that a batch was removed with its calls', () => {
    const without = (id: number): Partial<Rows> => {
      const { first, count } = BATCHES.find((batch) => batch.id === id) ?? expect.unreachable();
      return {
        batches: BATCHES.filter((batch) => batch.id !== id),
        calls: CALLS.filter((call) => call.id < first || call.id >= first + count),
      };
    };
    expect(faultsIn(without(2))).toContainEqual({ code: 'entries_missing', id: 4, count: 1 });
    expect(faultsIn(without(3))).toContainEqual({ code: 'entries_missing', id: 6, count: 2 });
    expect(faultsIn(without(5))).toContainEqual({ code: 'entries_missing', id: 7, count: 1 });
    expect(faultsIn({ ...without(5), lastId: 6 })).toContainEqual({ code: 'batches_missing', batch: 5 });
  });

  it('reveals calls that belong to no batch', () => {
    const [extra = expect.unreachable()] = CALLS;
    const found = faultsIn({ calls: [...CALLS, { ...extra, id: 8 }], lastId: 8 });
    expect(found).toContainEqual({ code: 'entry_inserted', id: 8 });
  });

  it.each<[what: string, change: Partial<StoredBatch>]>([
    ['renamed chain', { chain: 'third' }],
    ['number', { number: 7 }],
    ['previous hash', { previous: 'ab' }],
    ['hash', { hash: 'ab' }],
    ['first id', { first: 5 }],
    ['count', { count: 1 }],
    ['id', { id: 9 }],
  ])('reveals a batch with a changed %s', (_, change) => {
    expect(faultsIn(withBatch(3, () => change))).not.toEqual([]);
  });

  it('reveals reordered calls', () => {
    const swapped = CALLS.map((call) => ({ ...call, id: call.id === 4 ? 5 : call.id === 5 ? 4 : call.id }));
    const calls = swapped.toSorted((a, b) => a.id - b.id);
    expect(faultsIn({ calls })).toEqual([{ code: 'batch_changed', batch: 3, first: 4, last: 5 }]);
  });

  it('does not reveal that the last batch of a chain was changed and rehashed', () => {
    // Hashes need no secret: docs/ACTIVITY.md says what is found and what is not.
    expect(
      faultsIn(
        rehashed(
          5,
          withCall(7, () => ({ tenths: 9 })),
        ),
      ),
    ).toEqual([]);
  });

  it.each(['not JSON', 'null', '[]', '{}', '{"kind":"call"}'])(
    'reveals a rehashed entry that Assay did not write: %s',
    (text) => {
      const change = withCall(7, ({ context = expect.unreachable() }) => ({ context: { ...context, text } }));
      expect(faultsIn(rehashed(5, change))).toContainEqual({ code: 'entry_unreadable', id: 7, batch: 5 });
    },
  );

  it('stays valid after old batches are pruned, and reveals whether more were removed', () => {
    const kept = { batches: BATCHES.slice(2), calls: CALLS.slice(3) };
    const minutes = minutesOf(CALLS.slice(3));
    expect(faultsIn({ ...kept, prunedId: 3, minutes })).toEqual([]);
    expect(faultsIn({ ...kept, prunedId: 2, minutes })).toEqual([
      { code: 'entries_missing', id: 4, count: 1 },
    ]);
    expect(faultsIn({ batches: [], calls: [], prunedId: 7, minutes: [] })).toEqual([]);
  });

  it('is valid if batches are pruned while it is checked', () => {
    const check = new ChainCheck();
    const { uses } = RECORD;
    const bounds = { lastId: 7, lastBatch: 5, otherFacts: new Map<number, never>(), uses };
    check.add({ ...bounds, prunedId: 0, batches: BATCHES.slice(0, 1), calls: CALLS.slice(0, 2) });
    check.add({ ...bounds, prunedId: 5, batches: BATCHES.slice(3), calls: CALLS.slice(5) });
    check.add({ ...bounds, prunedId: 5, batches: [], calls: [], minutes: [] });
    expect(check.report.faults).toEqual([]);
  });

  it('reports the first 100 of many faults, and their total number', () => {
    const long = new MemoryRecord();
    let previous: string | undefined;
    for (let number = 1; number <= 300; number += 1)
      previous = long.add(
        batchOf([recordedCall(number)], { chain: 'l', number, ...(previous && { previous }) }),
      );
    const check = new ChainCheck();
    for (const page of long.pages())
      check.add({ ...page, calls: page.calls.map((call) => ({ ...call, tenths: 1 })) });
    expect([check.report.faults.length, check.report.faultCount]).toEqual([100, 300]);
  });
});

function minutesOf(calls: readonly StoredCall[]): MemoryRecord['minutes'] {
  const record = new MemoryRecord();
  record.calls.push(...calls);
  return record.minutes;
}

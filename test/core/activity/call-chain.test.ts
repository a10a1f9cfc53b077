import { describe, expect, it } from 'vitest';
import {
  ChainCheck,
  hashChainEntry,
  type ChainBounds,
  type ChainFault,
  type StoredEntry,
} from '../../../src/core/activity/call-chain.ts';
import { serializeCanonical } from '../../../src/core/canonical-json.ts';
import { chained, droppedCalls, recordedCall, stored } from '../../support/call-values.ts';

/** Two processes that take turns writing. */
const ONE = chained(
  'one',
  [1, 3, 5, 7].map((nth) => recordedCall(nth)),
);
const OTHER = chained('other', [recordedCall(2), recordedCall(4), droppedCalls(6, 12)]);
const ROWS = stored([...ONE, ...OTHER].toSorted((one, other) => one.atMs - other.atMs));

function faultsIn(rows: readonly StoredEntry[], bounds: Partial<ChainBounds> = {}): readonly ChainFault[] {
  return checked(rows, bounds).report.faults;
}

function checked(rows: readonly StoredEntry[], bounds: Partial<ChainBounds> = {}, pageSize = 3): ChainCheck {
  const check = new ChainCheck();
  for (;;) {
    const page = rows.filter(({ id }) => id > check.lastId).slice(0, pageSize);
    check.add(page, { prunedId: 0, lastId: ROWS.length, ...bounds });
    if (page.length === 0) return check;
  }
}

function changed(id: number, change: (row: StoredEntry) => Partial<StoredEntry>): readonly StoredEntry[] {
  return ROWS.map((row) => (row.id === id ? { ...row, ...change(row) } : row));
}

describe('a chain of entries', () => {
  it('is complete if several processes take turns writing', () => {
    expect(checked(ROWS).report).toEqual({ entries: 7, chains: 2, dropped: 12, faults: [], faultCount: 0 });
  });

  it('is hashed over canonical JSON, so that anyone can verify it', () => {
    for (const { text } of ROWS) expect(text).toBe(serializeCanonical(JSON.parse(text)));
  });

  it('reveals a changed entry', () => {
    const rows = changed(3, ({ text }) => ({ text: text.replace('"ok"', '"error"') }));
    expect(faultsIn(rows)).toEqual([{ code: 'entry_changed', id: 3 }]);
  });

  it('reveals an entry that was changed and rehashed, by the entry after it', () => {
    const rows = changed(3, ({ text, previous }) => {
      const forged = text.replace('"durationMs":3', '"durationMs":9');
      return { text: forged, hash: hashChainEntry(previous, forged) };
    });
    expect(faultsIn(rows)).toEqual([{ code: 'entry_inserted', id: 5 }]);
  });

  it.each([
    { subject: 'nobody' },
    { server: 'other' },
    { tool: 'files.write' },
    { decision: 'refuse' as const },
    { outcome: 'error' },
  ])('reveals a row that contradicts its entry: %j', (facts) => {
    const rows = changed(4, (row) => ({ facts: { ...row.facts, ...facts } }));
    expect(faultsIn(rows)).toEqual([{ code: 'row_changed', id: 4 }]);
  });

  it('reveals a row with a different time than its entry', () => {
    expect(faultsIn(changed(4, () => ({ atMs: 0 })))).toEqual([{ code: 'row_changed', id: 4 }]);
  });

  it.each([1, 2, 4, 6])('reveals that entry %i was removed', (id) => {
    const rows = ROWS.filter((row) => row.id !== id);
    expect(faultsIn(rows)).toEqual([{ code: 'entries_missing', id: id + 1, count: 1 }]);
  });

  it('reveals that an entry was removed and all later ones were renumbered', () => {
    const rows = ROWS.filter(({ id }) => id !== 3).map((row, at) => ({ ...row, id: at + 1 }));
    expect(faultsIn(rows, { lastId: 6 })).toEqual([{ code: 'entries_missing', id: 4, count: 1 }]);
  });

  it('reveals that the newest entries were removed', () => {
    expect(faultsIn(ROWS.slice(0, 5))).toEqual([{ code: 'entries_missing', id: 7, count: 2 }]);
  });

  it('reveals that a whole chain was removed', () => {
    const rows = ROWS.filter(({ chain }) => chain === 'one');
    expect(faultsIn(rows).map(({ code }) => code)).toEqual(Array(3).fill('entries_missing'));
  });

  it('reveals an entry that was inserted, or copied from another chain', () => {
    const shifted = ROWS.map((row) => (row.id < 5 ? row : { ...row, id: row.id + 1 }));
    const [first] = chained('one', [recordedCall(4)]);
    const forged = { ...(first ?? expect.unreachable()), id: 5, seq: 3 };
    const rows = [...shifted.slice(0, 4), forged, ...shifted.slice(4)];
    expect(faultsIn(rows, { lastId: 8 })).toContainEqual({ code: 'entry_inserted', id: 5 });
    const copied = { ...(OTHER[1] ?? expect.unreachable()), chain: 'one', id: 5, seq: 3 };
    expect(faultsIn([...shifted.slice(0, 4), copied, ...shifted.slice(4)], { lastId: 8 })).toContainEqual({
      code: 'entry_inserted',
      id: 5,
    });
  });

  it('reveals a renamed chain', () => {
    const rows = ROWS.map((row) => (row.chain === 'other' ? { ...row, chain: 'third' } : row));
    expect(faultsIn(rows)).toEqual([{ code: 'entry_inserted', id: 2 }]);
  });

  it('reveals reordered entries', () => {
    const swapped = ROWS.map((row) => ({ ...row, id: row.id === 3 ? 5 : row.id === 5 ? 3 : row.id }));
    expect(faultsIn(swapped.toSorted((one, other) => one.id - other.id))).not.toEqual([]);
  });

  // Hashes need no secret: docs/ACTIVITY.md says what is found and what is not.
  it.each<[change: string, keep: (row: StoredEntry) => boolean, found: readonly ChainFault['code'][]]>([
    ['the newest entries of all chains', ({ id }) => id <= 5, []],
    ['the newest entry of one chain', ({ chain, seq }) => chain !== 'one' || seq < 4, []],
    ['the oldest entry of one chain', ({ chain, seq }) => chain !== 'one' || seq > 1, []],
    ['a whole chain', ({ chain }) => chain !== 'one', []],
    [
      'an entry in the middle of a chain',
      ({ chain, seq }) => chain !== 'one' || seq !== 2,
      ['entries_missing'],
    ],
  ])('after all rows and counters were adjusted, %s can be missing', (_, keep, found) => {
    const rows = ROWS.filter(keep).map((row, at) => ({ ...row, id: at + 1 }));
    expect(faultsIn(rows, { lastId: rows.length }).map(({ code }) => code)).toEqual(found);
  });

  it('does not reveal that the last entry of a chain was changed and rehashed', () => {
    const rows = changed(7, ({ text, previous }) => {
      const forged = text.replace('"durationMs":7', '"durationMs":9');
      return { text: forged, hash: hashChainEntry(previous, forged) };
    });
    expect(faultsIn(rows)).toEqual([]);
  });

  it('does not reveal that entries of different chains changed places', () => {
    const swapped = ROWS.map((row) => ({ ...row, id: row.id === 3 ? 4 : row.id === 4 ? 3 : row.id }));
    expect(faultsIn(swapped.toSorted((one, other) => one.id - other.id))).toEqual([]);
  });

  it.each(['not JSON', 'null', '[]', '{}', '{"kind":"call","at":"2026-11-23T20:00:00Z"}'])(
    'reveals a rehashed entry that Assay did not write: %s',
    (text) => {
      const rows = changed(7, ({ previous }) => ({ text, hash: hashChainEntry(previous, text) }));
      expect(faultsIn(rows)).toEqual([{ code: 'entry_unreadable', id: 7 }]);
    },
  );

  it('stays valid after old entries are pruned, and reveals whether more were removed', () => {
    const rows = ROWS.slice(3);
    expect(faultsIn(rows, { prunedId: 3 })).toEqual([]);
    expect(faultsIn(rows, { prunedId: 2 })).toEqual([{ code: 'entries_missing', id: 4, count: 1 }]);
    expect(faultsIn([], { prunedId: 7 })).toEqual([]);
  });

  it('is valid if entries are pruned while it is checked', () => {
    const check = new ChainCheck();
    check.add(ROWS.slice(0, 2), { prunedId: 0, lastId: 7 });
    check.add(ROWS.slice(4), { prunedId: 4, lastId: 7 });
    check.add([], { prunedId: 4, lastId: 7 });
    expect(check.report.faults).toEqual([]);
  });

  it('reports the first 100 of many faults, and their total number', () => {
    const rows = stored(
      chained(
        'long',
        Array.from({ length: 300 }, (_, nth) => recordedCall(nth)),
      ),
    ).map((row) => ({ ...row, text: row.text.replace('"ok"', '"error"') }));
    const { report } = checked(rows, { lastId: 300 }, 300);
    expect([report.faults.length, report.faultCount]).toEqual([100, 300]);
  });
});

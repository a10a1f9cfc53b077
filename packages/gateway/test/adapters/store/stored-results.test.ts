// Whole results of which clients got a part.
import { describe, expect, it } from 'vitest';
import type { StoredResult } from '../../../src/gateway/ports/stored-results.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';

endAfterEach();

const BOUNDS = { bytesPerSubject: 10, totalBytes: 20 };

function resultOf(hash: string, more: Partial<StoredResult> = {}): StoredResult {
  const odd = ' \u0000\ud800';
  return {
    ...{
      hash,
      subject: `ada${odd}`,
      tokenId: 'token',
      endpoint: `all${odd}`,
      server: `s${odd}`,
      tool: `t${odd}`,
    },
    ...{ publicName: 's_t', isApproved: true, expiresMs: 1_000, bytes: Buffer.from([0, 255, 1]) },
    ...more,
  };
}

async function add(store: Store, result: StoredResult, nowMs = 0): Promise<boolean> {
  return valueOf(await store.addStoredResult(result, BOUNDS, nowMs));
}

async function kept(store: Store, results: readonly StoredResult[]): Promise<readonly string[]> {
  const found = [];
  for (const result of results) found.push(valueOf(await store.storedResult(result, 0)));
  return found.flatMap((one) => (one === undefined ? [] : [one.hash]));
}

describe.each(DATABASES)('stored results in %s', (_database, newPlace) => {
  it('are read by the same subject, token and endpoint until they expire, byte for byte', async () => {
    const store = await openAt(await newPlace());
    const result = resultOf('a');
    expect(await add(store, result)).toBe(true);
    expect(valueOf(await store.storedResult(result, 999))).toEqual(result);
    for (const other of [{ hash: 'b' }, { subject: 'ben' }, { tokenId: 'other' }, { endpoint: 'servers/x' }])
      expect(valueOf(await store.storedResult({ ...result, ...other }, 999))).toBeUndefined();
    expect(valueOf(await store.storedResult(result, 1_000))).toBeUndefined();
  });

  it('that have expired are removed, with the next one or on request', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    await add(store, resultOf('a'));
    await add(store, resultOf('b', { expiresMs: 2_000 }), 1_000);
    expect(await rawRows(place, 'select hash from assay_stored_results')).toEqual([{ hash: 'b' }]);
    valueOf(await store.removeExpiredResults(2_000));
    expect(await rawRows(place, 'select hash from assay_stored_results')).toEqual([]);
  });

  it('make room for newer ones: those of the same subject, and then of the one that has the most', async () => {
    const store = await openAt(await newPlace());
    const four = { bytes: Buffer.alloc(4) };
    const mine = ['a', 'b', 'c'].map((hash, at) => resultOf(hash, { ...four, expiresMs: 1_000 + at }));
    const others = ['d', 'e', 'f', 'g'].map((hash, at) =>
      resultOf(hash, { ...four, subject: `s${Math.floor(at / 2)}`, expiresMs: 1_100 + at }),
    );
    for (const one of mine) await add(store, one);
    expect(await kept(store, mine)).toEqual(['b', 'c']);
    for (const one of others) await add(store, one);
    expect(await kept(store, [...mine, ...others])).toEqual(['b', 'c', 'd', 'e', 'g']);
    const last = resultOf('h', { ...four, subject: 's2' });
    expect(await add(store, last)).toBe(true);
    expect(await kept(store, [...mine, ...others, last])).toEqual(['c', 'd', 'e', 'g', 'h']);
    for (const size of [11, 9]) {
      const large = resultOf('i', { bytes: Buffer.alloc(size), subject: 's3' });
      expect(await add(store, large)).toBe(false);
    }
    expect(await kept(store, [...mine, ...others, last])).toEqual(['c', 'd', 'e', 'g', 'h']);
  });

  it('are deleted with their token', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const token = {
      name: 'ada',
      scopes: [],
      hash: 'x',
      createdMs: 0,
      expiresMs: undefined,
      revokedMs: undefined,
    };
    valueOf(await store.addToken({ ...token, id: 'token' }));
    await add(store, resultOf('a'));
    await add(store, resultOf('b', { tokenId: 'other' }));
    valueOf(await store.revokeToken('token', 1));
    expect(await rawRows(place, 'select hash from assay_stored_results')).toEqual([{ hash: 'b' }]);
  });
});

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openContent, sealContent } from '../../src/adapters/auth/credential-content.ts';
import { findKeyFault, KEY_CHECK } from '../../src/adapters/auth/key-check.ts';
import { createResealing } from '../../src/adapters/auth/resealing.ts';
import { toEntrySealName } from '../../src/gateway/services/bundles/entry-records.ts';
import { rekeyStore, type RekeyReport } from '../../src/gateway/services/store/rekey.ts';
import { keysIn, newKey, writeKeyFile } from '../../../../test/support/encryption-keys.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { CONTENT, fillSealed, openAll, rekey, toKey } from '../../../../test/support/sealed-rows.ts';
import { DATABASES, openAt } from '../../../../test/support/stores.ts';
import { readableAuditEvents, valueOf } from '../../../../test/support/store-values.ts';

const countsOf = ({ counts }: RekeyReport): readonly string[] =>
  counts.map(({ kind, ...numbers }) => `${kind} ${Object.values(numbers).join(' ')}`);
const KINDS = ['gateway', 'rest_tool', 'function_module', 'secret', 'sign_in', 'challenge'];

describe.each(DATABASES)('rekeying a store in %s', (_, newPlace) => {
  it('encrypts rows of all kinds with the newest key, once, and names the keys that are no longer used', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const [first, second, next] = [newKey(), newKey(), newKey()];
    await fillSealed(store, second, 3);
    const file = join(place.home, 'keys');
    writeKeyFile(file, second);
    const before = await openAll(store, keysIn(place.home, { file }));
    expect(before).toHaveLength(18);
    writeKeyFile(file, next, second, first);
    const report = await rekey(store, keysIn(place.home, { file }));
    expect(countsOf(report)).toEqual(KINDS.map((kind) => `${kind} 0 3 0 0`));
    expect(report.key.id).toBe(toKey(next).id);
    expect(report.usedKeys).toEqual([]);
    expect(report.unusedKeys.map(({ id }) => id)).toEqual([toKey(second).id, toKey(first).id]);
    writeKeyFile(file, next);
    expect(await openAll(store, keysIn(place.home, { file }))).toEqual(before);
    const [check] = valueOf(await store.keys(KEY_CHECK));
    expect(findKeyFault([toKey(next)], check)).toBeUndefined();
    expect(findKeyFault([toKey(second)], check)).toMatchObject({ code: 'KEY_DIFFERS', key: toKey(next).id });
    const again = await rekey(store, keysIn(place.home, { file }));
    expect(countsOf(again)).toEqual(KINDS.map((kind) => `${kind} 3 0 0 0`));
    expect(valueOf(await store.keys(KEY_CHECK))).toHaveLength(1);
    const events = await readableAuditEvents(store, { limit: 100, after: 0 });
    expect(events.map(({ action }) => action)).toEqual(['store.rekey']);
    expect(JSON.stringify(events)).not.toMatch(/sealed|v1/);
  });

  it('leaves rows that no key decrypts, names them, and then does not make its key that of the store', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const [lost, next] = [newKey(), newKey()];
    await fillSealed(store, lost, 1);
    const file = join(place.home, 'keys');
    writeKeyFile(file, next);
    const rows = valueOf(await store.records(0)).records;
    const report = await rekey(store, keysIn(place.home, { file }));
    expect(countsOf(report)).toEqual(KINDS.map((kind) => `${kind} 0 0 1 0`));
    expect(report.unreadable.map(({ kind, id }) => `${kind} ${id}`).toSorted()).toEqual([
      'challenge n0 as local',
      'function_module n0',
      'gateway n0',
      'rest_tool n0',
      'secret n0',
      'sign_in n0 as local',
    ]);
    expect(valueOf(await store.records(0)).records).toEqual(rows);
    expect(valueOf(await store.keys(KEY_CHECK))).toEqual([]);
  });

  it('waits for the holder of a lease, whose renewed tokens are not lost', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const [former, next] = [newKey(), newKey()];
    const key = { server: 's', identity: 'i', issuer: 'https://issuer.example', subject: 'local' };
    valueOf(await store.saveCredential({ ...sealContent(key, CONTENT, toKey(former)), savedMs: 1 }));
    const [{ revision } = { revision: 0 }] = valueOf(await store.credentials());
    const lease = { holder: 'a', revision, forMs: 60_000 };
    valueOf(await store.leaseCredential(key, lease));
    const file = join(place.home, 'keys');
    writeKeyFile(file, next, former);
    let pauses = 0;
    const renewed = { ...CONTENT, wantedScope: 'renewed' };
    const report = valueOf(
      await rekeyStore({
        store,
        resealing: createResealing(keysIn(place.home, { file }), toEntrySealName),
        nowMs: Date.now,
        pause: async () => {
          pauses += 1;
          const saved = { ...sealContent(key, renewed, toKey(former)), savedMs: 2 };
          expect(valueOf(await store.saveCredential(saved, revision))).toBe(true);
        },
        onProgress: () => undefined,
      }),
    );
    expect(pauses).toBe(1);
    expect(report.counts.find(({ kind }) => kind === 'sign_in')).toMatchObject({ changed: 1, remaining: 0 });
    const [stored] = valueOf(await store.credentials());
    expect(openContent(stored!, [toKey(next)])).toEqual(renewed);
  });

  it('reveals nothing to somebody who has the database alone', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const given = newKey();
    await fillSealed(store, given, 1);
    await rekey(store, keysIn(tempDir(), { given }));
    expect(await openAll(store, keysIn(tempDir()))).toEqual([]);
    const stored = valueOf(await store.keys(KEY_CHECK));
    for (const { bytes } of stored)
      expect(await openAll(store, keysIn(tempDir(), { given: bytes.toString('hex') }))).toEqual([]);
    expect(stored).toHaveLength(1);
  });
});

import { expect, it } from 'vitest';
import { adoptKey, KEY_CHECK, KeyCheck } from '../../../src/adapters/auth/key-check.ts';
import type { EncryptionKeys } from '../../../src/adapters/auth/encryption-keys.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { keysIn, newKey } from '../../../../../test/support/encryption-keys.ts';
import { endLater, until } from '../../../../../test/support/endings.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { openAt } from '../../../../../test/support/stores.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

async function check(store: Store, keys: EncryptionKeys): Promise<KeyCheck> {
  const made = new KeyCheck({ keys, isDerived: true, store, log: SILENT });
  endLater(() => made.close());
  await made.start();
  return made;
}

it('the first process with a key decides which key belongs to the store, as soon as it has one', async () => {
  const store = await openAt({ home: tempDir(), databaseUrl: undefined });
  const homes = [tempDir(), tempDir()];
  const [keys, others] = homes.map((home) => keysIn(home)) as [EncryptionKeys, EncryptionKeys];
  const [one, other] = [await check(store, keys), await check(store, others)];
  expect([one.fault, other.fault]).toEqual([undefined, undefined]);
  expect(valueOf(await store.keys(KEY_CHECK))).toEqual([]);
  const { id } = valueOf(await keys.ensure());
  await until('the other one notices', () => other.fault);
  expect(other.fault).toEqual({ code: 'KEY_DIFFERS', key: id, keys: [] });
  expect(one.fault).toBeUndefined();
  const own = valueOf(await others.ensure());
  await other.check();
  expect(other.fault).toEqual({ code: 'KEY_DIFFERS', key: id, keys: [own.id] });
  // Nothing but rekeying makes another key that of the store.
  expect(valueOf(await store.keys(KEY_CHECK))).toHaveLength(1);
  valueOf(await adoptKey(store, own));
  await until('they have changed places', () =>
    one.fault !== undefined && other.fault === undefined ? true : undefined,
  );
  valueOf(await adoptKey(store, own));
  expect(valueOf(await store.keys(KEY_CHECK))).toHaveLength(2);
});

it('concurrent first processes agree on one key', async () => {
  const store = await openAt({ home: tempDir(), databaseUrl: undefined });
  const checks = await Promise.all([1, 2, 3].map(() => check(store, keysIn(tempDir(), { given: newKey() }))));
  for (const one of checks) await one.check();
  expect(checks.filter(({ fault }) => fault === undefined)).toHaveLength(1);
});

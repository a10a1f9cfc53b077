import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { seal, unseal } from '../../../src/adapters/auth/seal.ts';
import { keysIn, newKey, writeKeyFile } from '../../../../../test/support/encryption-keys.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';

it('is created once, also by concurrent processes, and is readable by this user only', async () => {
  const home = join(tempDir(), 'new');
  const made = await Promise.all([1, 2, 3, 4].map(() => keysIn(home).ensure()));
  expect(new Set(made.map((one) => valueOf(one).id)).size).toBe(1);
  expect(statSync(join(home, 'encryption.key')).mode & 0o777).toBe(0o600);
  expect(valueOf(await keysIn(home).read())[0]?.bytes).toHaveLength(32);
});

it('loses the access rights of other users if its file had any', async () => {
  const home = tempDir();
  await keysIn(home).ensure();
  const path = join(home, 'encryption.key');
  chmodSync(path, 0o644);
  await keysIn(home).read();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('is 32 bytes in hexadecimal or base64; the environment variable takes precedence over the file', async () => {
  const home = tempDir();
  const own = valueOf(await keysIn(home).ensure());
  const bytes = Buffer.alloc(32, 0xfb);
  for (const given of [bytes.toString('hex'), bytes.toString('base64'), ` ${bytes.toString('base64')}\n`]) {
    const keys = valueOf(await keysIn(home, { given }).read());
    expect(keys[0]?.bytes).toEqual(bytes);
    // What the home's key sealed before still opens.
    expect(keys.slice(1).map(({ id }) => id)).toEqual([own.id]);
  }
  for (const given of ['a phrase', bytes.toString('hex').slice(2), 'é'.repeat(43)])
    expect(await keysIn(home, { given }).read()).toMatchObject({
      error: { code: 'KEY_UNUSABLE', place: 'ASSAY_ENCRYPTION_KEY' },
    });
});

it('is reported, and neither used nor replaced, if its file is truncated', async () => {
  const home = tempDir();
  const path = join(home, 'encryption.key');
  writeFileSync(path, 'AAAA');
  for (const done of [await keysIn(home).read(), await keysIn(home).ensure()])
    expect(done).toMatchObject({ error: { code: 'KEY_UNUSABLE', place: JSON.stringify(path) } });
  expect(readFileSync(path, 'utf8')).toBe('AAAA');
});

it('stays in use in a process that has it if its file is lost, and is not replaced by another one', async () => {
  const home = tempDir();
  const warnings: unknown[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (...given: unknown[]) => void warnings.push(given) };
  const keys = keysIn(home, { log });
  const own = valueOf(await keys.ensure());
  rmSync(join(home, 'encryption.key'));
  expect(valueOf(await keys.read(true))).toEqual([own]);
  expect(valueOf(await keys.ensure())).toEqual(own);
  expect(warnings).toHaveLength(1);
});

it('opens what it sealed, and nothing that was changed, moved or sealed with another key', async () => {
  const key = valueOf(await keysIn(tempDir()).ensure());
  const other = valueOf(await keysIn(tempDir()).ensure());
  const sealed = seal('a secret', 'about', key);
  expect(sealed.includes('a secret')).toBe(false);
  expect(seal('a secret', 'about', key)).not.toEqual(sealed);
  expect(unseal(sealed, 'about', key)).toBe('a secret');
  expect(unseal(sealed, 'something else', key)).toBeUndefined();
  expect(unseal(sealed, 'about', other)).toBeUndefined();
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(unseal(changed, 'about', key)).toBeUndefined();
    expect(unseal(sealed.subarray(0, at), 'about', key)).toBeUndefined();
  }
});

it('encrypts with the first key of a file that was just replaced, so that nothing is lost with a removed key', async () => {
  const file = join(tempDir(), 'keys');
  const [former, next] = [newKey(), newKey()];
  writeKeyFile(file, former);
  const keys = keysIn(tempDir(), { file });
  const before = valueOf(await keys.ensure());
  writeKeyFile(file, next);
  const after = valueOf(await keys.ensure());
  expect(after.id).not.toBe(before.id);
  expect(valueOf(await keys.read()).map(({ id }) => id)).toEqual([after.id]);
});

import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ensureEncryptionKey, readEncryptionKey } from '../../../src/adapters/auth/encryption-key.ts';
import { seal, unseal } from '../../../src/adapters/auth/seal.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';

it('is created once, also by concurrent processes, and is readable by this user only', async () => {
  const place = { home: join(tempDir(), 'new'), given: undefined };
  const made = await Promise.all([1, 2, 3, 4].map(() => ensureEncryptionKey(place)));
  expect(new Set(made.map((one) => valueOf(one).id)).size).toBe(1);
  expect(statSync(join(place.home, 'encryption.key')).mode & 0o777).toBe(0o600);
  expect(valueOf(await readEncryptionKey(place))?.bytes).toHaveLength(32);
});

it('loses the access rights of other users if its file had any', async () => {
  const place = { home: tempDir(), given: undefined };
  await ensureEncryptionKey(place);
  const path = join(place.home, 'encryption.key');
  chmodSync(path, 0o644);
  await readEncryptionKey(place);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('is 32 bytes in hexadecimal or base64; the environment variable takes precedence over the file', async () => {
  const home = tempDir();
  const bytes = Buffer.alloc(32, 0xfb);
  for (const given of [bytes.toString('hex'), bytes.toString('base64'), ` ${bytes.toString('base64')}\n`])
    expect(valueOf(await readEncryptionKey({ home, given }))?.bytes).toEqual(bytes);
  for (const given of ['a phrase', bytes.toString('hex').slice(2), 'é'.repeat(43)])
    expect(await readEncryptionKey({ home, given })).toMatchObject({
      error: { code: 'KEY_UNUSABLE', place: 'ASSAY_ENCRYPTION_KEY' },
    });
});

it('is reported, and neither used nor replaced, if its file is truncated', async () => {
  const place = { home: tempDir(), given: undefined };
  const path = join(place.home, 'encryption.key');
  writeFileSync(path, 'AAAA');
  for (const done of [await readEncryptionKey(place), await ensureEncryptionKey(place)])
    expect(done).toMatchObject({ error: { code: 'KEY_UNUSABLE', place: JSON.stringify(path) } });
  expect(readFileSync(path, 'utf8')).toBe('AAAA');
});

it('opens what it sealed, and nothing that was changed, moved or sealed with another key', async () => {
  const key = valueOf(await ensureEncryptionKey({ home: tempDir(), given: undefined }));
  const other = valueOf(await ensureEncryptionKey({ home: tempDir(), given: undefined }));
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

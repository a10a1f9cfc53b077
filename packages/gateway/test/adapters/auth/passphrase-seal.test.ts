import { expect, it } from 'vitest';
import { passphraseSeal } from '../../../src/adapters/auth/passphrase-seal.ts';

const PASSPHRASE = 'correct hörse battery staple';
const TEXT = '[{"name":"ÄÖ\\u0000"}]';

it('only the same passphrase opens what it sealed, however its letters are composed', async () => {
  const sealed = await passphraseSeal.seal(TEXT, PASSPHRASE);
  expect(await passphraseSeal.open(sealed, PASSPHRASE.normalize('NFD'))).toBe(TEXT);
  expect(await passphraseSeal.open(sealed, `${PASSPHRASE} `)).toBeUndefined();
  expect(JSON.stringify(sealed)).not.toContain('name');
});

it('differs each time, and does not open after any change', async () => {
  const [one, two] = [
    await passphraseSeal.seal(TEXT, PASSPHRASE),
    await passphraseSeal.seal(TEXT, PASSPHRASE),
  ];
  expect(one.data).not.toBe(two.data);
  const bytes = Buffer.from(one.data, 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  for (const changed of [
    { ...one, data: bytes.toString('base64') },
    { ...one, data: Buffer.alloc(16).toString('base64') },
    { ...one, salt: two.salt },
    { ...one, nonce: two.nonce },
    { ...one, p: 2 },
  ])
    expect(await passphraseSeal.open(changed, PASSPHRASE)).toBeUndefined();
});

it('opens also if another cost was chosen since', async () => {
  const literal = {
    kdf: 'scrypt',
    N: 16_384,
    r: 8,
    p: 1,
    salt: 'AAAAAAAAAAAAAAAAAAAAAA==',
    nonce: 'AAAAAAAAAAAAAAAA',
    data: 'c18IOfulGPlifQoTpfC4bWB87qQ=',
  } as const;
  expect(await passphraseSeal.open(literal, 'twelve letters')).toBe('kept');
});

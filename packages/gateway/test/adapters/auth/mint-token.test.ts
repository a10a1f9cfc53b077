import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { mintToken } from '../../../src/adapters/auth/mint-token.ts';
import { parseToken } from '../../../src/core/token.ts';

it('a new token has the token format, and only the hash of its secret is stored', () => {
  const { text, id, hash } = mintToken();
  const parts = parseToken(text);
  expect(parts?.id).toBe(id);
  expect(hash).toBe(
    createHash('sha256')
      .update(parts?.secret ?? '')
      .digest('hex'),
  );
});

it('no two tokens are alike, and every character of a secret varies', () => {
  const secrets = Array.from({ length: 500 }, () => parseToken(mintToken().text)?.secret ?? '');
  expect(new Set(secrets).size).toBe(500);
  for (let at = 0; at < 43; at += 1)
    expect(new Set(secrets.map((secret) => secret[at])).size).toBeGreaterThan(1);
});

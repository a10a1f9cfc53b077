import { hash, randomBytes } from 'node:crypto';
import { tokenText, type MintedToken } from '../../core/token.ts';

const ID_BYTES = 6;
const SECRET_BYTES = 32;

/** Makes a token of 256 bits of chance. */
export function mintToken(): MintedToken {
  const id = randomBytes(ID_BYTES).toString('hex');
  const secret = base62(randomBytes(SECRET_BYTES));
  return { text: tokenText({ id, secret }), id, hash: secretDigest(secret).toString('hex') };
}

/**
 * What is kept of a secret. One SHA-256 is enough: a slow hash protects what people make up, and nobody guesses 256 bits
 * of chance, however fast the guesses can be checked. It also keeps the path of each request short.
 */
export function secretDigest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 43 digits, which hold any 32 bytes; letters and digits alone, so that a double click takes all of it. */
function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < 43; digit += 1) {
    text = (DIGITS[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}

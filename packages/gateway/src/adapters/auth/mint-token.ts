import { hash, randomBytes } from 'node:crypto';
import { formatSession } from '../../core/page-session.ts';
import { formatToken, type MintedToken, type TokenParts } from '../../core/token.ts';

const ID_BYTES = 6;
const SECRET_BYTES = 32;

/** Creates a token with 256 random bits. */
export function mintToken(): MintedToken {
  return mint(formatToken);
}

/** Creates the code of a sign-in link, or a session, with 256 random bits. */
export function mintSession(): MintedToken {
  return mint(formatSession);
}

function mint(textOf: (parts: TokenParts) => string): MintedToken {
  const id = randomBytes(ID_BYTES).toString('hex');
  const secret = base62(randomBytes(SECRET_BYTES));
  return { text: textOf({ id, secret }), id, hash: hashSecret(secret).toString('hex') };
}

/**
 * The stored form of a secret. One SHA-256 is enough: slow hashes protect passwords, but 256 random bits cannot be
 * guessed at any speed. It also keeps requests fast.
 */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 43 digits hold any 32 bytes. Only letters and digits, so that a double click selects all of it. */
function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < 43; digit += 1) {
    text = (DIGITS[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}

import { createHash } from 'node:crypto';

/** First `length` hexadecimal digits of the SHA-256 of a text. */
export function shortHash(text: string, length: number): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, length);
}

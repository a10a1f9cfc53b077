import { createHash } from 'node:crypto';
import { canonicalJson, exactJson, hasTwins } from './canonical-json.ts';

/** First `length` hexadecimal digits of the SHA-256 of a text. */
export function shortHash(text: string, length: number): string {
  return sha256(text).slice(0, length);
}

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** SHA-256, in hexadecimal, of a JSON text in canonical form. Undefined where the text is no JSON. */
export function digestOfJson(text: string): string | undefined {
  try {
    const read = exactJson(text);
    return read === undefined ? undefined : sha256(canonicalJson(read.value));
  } catch {
    // So deep that no stack holds it.
    return undefined;
  }
}

/**
 * SHA-256 of a definition, in hexadecimal: of its canonical form where it is JSON. One in which a key stands twice is what
 * its bytes are, as readers differ in which of the two they take.
 */
export function digestOfDefinition(text: string): string {
  return (hasTwins(text) ? undefined : digestOfJson(text)) ?? sha256(text);
}

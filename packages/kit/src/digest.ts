import { hash } from 'node:crypto';
import { serializeCanonical, parseExactJson, hasDuplicateKeys } from './canonical-json.ts';

/** The first `length` hexadecimal digits of the SHA-256 of a text. */
export function computeShortHash(text: string, length: number): string {
  return sha256(text).slice(0, length);
}

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/** SHA-256 of the canonical form of a JSON text, in hexadecimal. Undefined if the text is not JSON. */
export function hashJson(text: string): string | undefined {
  return digestOfRead(parseExactJson(text));
}

function digestOfRead(read: { readonly value: unknown } | undefined): string | undefined {
  try {
    return read === undefined ? undefined : sha256(serializeCanonical(read.value));
  } catch {
    // Nested too deeply for the stack.
    return undefined;
  }
}

/**
 * SHA-256 of a definition, in hexadecimal: of its canonical form if it is JSON. A text with duplicate keys is hashed
 * byte for byte, because parsers differ in which of the two they use.
 */
export function hashDefinition(text: string): string {
  const read = parseExactJson(text);
  return (hasDuplicateKeys(text, read) ? undefined : digestOfRead(read)) ?? sha256(text);
}

/** Longer arguments are hashed as written: parsing them with exact numbers would delay all other clients. */
const MAX_PARSED_LENGTH = 64 * 1024;

/**
 * The same for arguments of a call, but numbers count as written: an approval of 0.1 does not cover
 * 0.10000000000000000555, which a double rounds to 0.1 but a server may not.
 */
export function hashArguments(text: string): string {
  const read = text.length <= MAX_PARSED_LENGTH ? parseExactJson(text, 'notation') : undefined;
  return (hasDuplicateKeys(text, read) ? undefined : digestOfRead(read)) ?? sha256(text);
}

const MARK_DIGITS = 8;

/** A short hash that stands in for an address or path that must not be disclosed but whose change must be detected. */
export function computeMark(text: string): string {
  return computeShortHash(text, MARK_DIGITS);
}

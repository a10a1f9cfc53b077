import { createHash } from 'node:crypto';

/** First `length` hexadecimal digits of the SHA-256 of a text. */
export function shortHash(text: string, length: number): string {
  return sha256(text).slice(0, length);
}

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/**
 * SHA-256, in hexadecimal, of a JSON text in canonical form (RFC 8785): whitespace, the order of members and the way in
 * which strings and numbers are written do not count. An integer that no double holds counts as it is written, where
 * the RFC would take its nearest double. Undefined where the text is no JSON.
 */
export function digestOfJson(text: string): string | undefined {
  try {
    return sha256(canonical(JSON.parse(text, keepNumbers)));
  } catch {
    return undefined;
  }
}

/** An integer beyond what a double holds, as written. */
class LongNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

function keepNumbers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isLong = typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isLong && context?.source !== undefined ? new LongNumber(context.source) : value;
}

function canonical(value: unknown): string {
  if (value instanceof LongNumber) return value.source;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // RFC 8785, section 3.2.3: members in the order of the UTF-16 units of their keys, which is that of `<`.
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}

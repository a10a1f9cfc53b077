import { isJsonObject } from './json-object.ts';

declare global {
  interface JSON {
    /** What `stringify` writes as it is (ECMA-262, JSON.rawJSON). */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/**
 * A JSON value in which every integer that no double holds is kept as it is written: `JSON.stringify` writes it so, and
 * until then it is an object that nobody can compute with. Undefined where the text is no JSON.
 */
export function exactJson(text: string): { readonly value: unknown } | undefined {
  try {
    // To look at each value takes several times as long as the rest, and hardly any text holds such a number.
    return { value: MAY_BE_LONG.test(text) ? JSON.parse(text, keepNumbers) : JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** More digits than a double holds, or an exponent. */
const MAY_BE_LONG = /\d{16}|\d[eE]/;

function keepNumbers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isLong = typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isLong && context?.source !== undefined ? JSON.rawJSON(context.source) : value;
}

/**
 * JSON text in canonical form (RFC 8785) of what `exactJson` read: whitespace, the order of members and the way in which
 * strings and numbers are written do not count. A long integer counts as it is written, where the RFC would take its
 * nearest double.
 */
export function canonicalJson(value: unknown): string {
  if (JSON.isRawJSON(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  // RFC 8785, section 3.2.3: members in the order of the UTF-16 units of their keys, which is that of `<`.
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}

/** Whether what `exactJson` read is an object. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value) && !JSON.isRawJSON(value);
}

/** Whether a key stands twice in any object of a JSON text: then there are more members in the text than in its value. */
export function hasTwins(text: string): boolean {
  const read = exactJson(text);
  try {
    return read !== undefined && colonsIn(text) !== membersIn(read.value);
  } catch {
    // So deep that no stack holds it.
    return false;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Outside of strings, where each belongs to a member. */
function colonsIn(text: string): number {
  let count = 0;
  let isInside = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) isInside = !isInside;
    else if (isInside && unit === BACKSLASH) at += 1;
    else if (!isInside && unit === COLON) count += 1;
  }
  return count;
}

function membersIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + membersIn(one), 0);
  if (!isMembers(value)) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + 1 + membersIn(one), 0);
}

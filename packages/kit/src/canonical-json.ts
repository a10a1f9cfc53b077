import { isJsonObject } from './json-object.ts';

declare global {
  interface JSON {
    /** A value that `stringify` writes verbatim (ECMA-262, JSON.rawJSON). */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

interface Loss {
  /** Matches every text with such a number, and few others. */
  readonly mayHold: RegExp;
  readonly isLost: (value: number, source: string) => boolean;
}

/** The numbers whose value or whose notation a double does not keep. */
const LOSSES: Readonly<Record<'value' | 'notation', Loss>> = {
  value: { mayHold: /\d{16}|\d[eE]/, isLost: (value) => Math.abs(value) > Number.MAX_SAFE_INTEGER },
  notation: {
    mayHold: /\d[.eE]|-0|\d{16}/,
    isLost: (value, source) => source !== JSON.stringify(value),
  },
};

/**
 * Parses JSON without losing precision: an integer that does not fit a double becomes a raw JSON object, which
 * `JSON.stringify` writes back digit for digit and no code can compute with. With `notation`, so does every number that
 * would be written differently, such as 2.50. Undefined if the text is not JSON.
 */
export function parseExactJson(
  text: string,
  kept: 'value' | 'notation' = 'value',
): { readonly value: unknown } | undefined {
  const { mayHold, isLost } = LOSSES[kept];
  const keep = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' && context?.source !== undefined && isLost(value, context.source)
      ? JSON.rawJSON(context.source)
      : value;
  try {
    // A reviver takes several times as long as parsing alone, and hardly any text contains such numbers.
    return { value: mayHold.test(text) ? JSON.parse(text, keep) : JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Canonical JSON (RFC 8785) of a value from `parseExactJson`: independent of whitespace, member order and the notation of
 * strings and numbers. Unlike the RFC, long integers keep their digits instead of being rounded to the nearest double.
 * Numbers whose notation was kept keep it.
 */
export function serializeCanonical(value: unknown): string {
  if (JSON.isRawJSON(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(serializeCanonical).join(',')}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  // RFC 8785, section 3.2.3: members are sorted by the UTF-16 code units of their keys, as `<` compares them.
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${serializeCanonical(member)}`).join(',')}}`;
}

/** Whether a value from `parseExactJson` is an object. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value) && !JSON.isRawJSON(value);
}

/**
 * Whether any object in a JSON text has a duplicate key: the text then has more members than its value, which
 * `parseExactJson` read. False if it is not JSON.
 */
export function hasDuplicateKeys(text: string, read: ReturnType<typeof parseExactJson>): boolean {
  try {
    return read !== undefined && colonsIn(text) !== membersIn(read.value);
  } catch {
    // Nested too deeply for the stack.
    return false;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Counts colons outside of strings, where each belongs to a member. */
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

declare global {
  interface JSON {
    /** What `stringify` writes as it is (ECMA-262, JSON.rawJSON). */
    rawJSON(text: string): object;
  }
}

/** Where there may be a number that no double holds. */
const LONG = /\d{16}|\d[eE]/;

/**
 * The value of a JSON text, in which `JSON.stringify` writes integers that no double holds as they were. Until then each of
 * them is an object that nobody can compute with. Undefined where the text is no JSON; JSON has no such value.
 */
export function exactValue(text: string): unknown {
  try {
    return JSON.parse(text, LONG.test(text) ? keepLong : undefined);
  } catch {
    return undefined;
  }
}

function keepLong(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isLong = typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isLong && context?.source !== undefined ? JSON.rawJSON(context.source) : value;
}

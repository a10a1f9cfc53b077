/** Where a JSON value stands in the bytes: from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One member of an object: the span is that of its value; `keyStart` is the quote that opens its key. */
export interface Member extends Span {
  readonly key: string;
  readonly keyStart: number;
  /** The members of the value, where the plan of the scan asked for them and the value is an object. */
  readonly object: JsonObject | undefined;
}

export interface JsonObject extends Span {
  readonly members: readonly Member[];
}

/** Whose members a scan lists: nested keys. All other values are checked and stepped over. */
export type Plan = ReadonlyMap<string, Plan>;

interface Keys {
  readonly [key: string]: Keys;
}

export function planOf(keys: Keys): Plan {
  return new Map(Object.entries(keys).map(([key, inner]) => [key, planOf(inner)]));
}

export function memberOf(object: JsonObject | undefined, key: string): Member | undefined {
  if (object === undefined) return undefined;
  for (const member of object.members) if (member.key === key) return member;
  return undefined;
}

/** The text of a JSON string, undefined when the span holds another kind of value. */
export function textOf(bytes: Buffer, span: Span | undefined): string | undefined {
  if (span === undefined || bytes[span.start] !== QUOTE) return undefined;
  const raw = bytes.toString('utf8', span.start + 1, span.end - 1);
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined; // only a lenient scan lets such a string through
  }
}

/** The value as it was written. */
export function rawOf(bytes: Buffer, span: Span): string {
  return bytes.toString('utf8', span.start, span.end);
}

const QUOTE = 0x22;

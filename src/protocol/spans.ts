export { planOf, type Plan } from './plan.ts';
import { BACKSLASH, QUOTE } from './tokens.ts';

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
  /** How many members stand before it, planned or not. */
  readonly index: number;
  /** Where the value before it ends, and where the key after it starts; -1: there is none. */
  readonly previousEnd: number;
  readonly nextStart: number;
}

export interface JsonObject extends Span {
  /** Those that the plan of the scan names, in their order. */
  readonly members: readonly Member[];
  /** How many members there are, planned or not. */
  readonly size: number;
}

export function memberOf(object: JsonObject | undefined, key: string): Member | undefined {
  if (object === undefined) return undefined;
  for (const member of object.members) if (member.key === key) return member;
  return undefined;
}

/**
 * Longest text in bytes that is decoded in one turn of the event loop: with and without escapes, which take longer. The
 * longest that peers have sent is the state of a call (`requestState`).
 */
const LONGEST_ESCAPED = 8 * 1024 * 1024;
const LONGEST_TEXT = 64 * 1024 * 1024;

/** The text of a JSON string, undefined when the span holds another kind of value or a longer text. */
export function textOf(bytes: Buffer, span: Span | undefined): string | undefined {
  if (span === undefined || bytes[span.start] !== QUOTE) return undefined;
  const length = span.end - span.start;
  if (length > LONGEST_TEXT) return undefined;
  if (length > LONGEST_ESCAPED && bytes.subarray(span.start, span.end).includes(BACKSLASH)) return undefined;
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

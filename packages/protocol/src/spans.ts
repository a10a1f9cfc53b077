export { buildPlan, type Plan } from './plan.ts';
import { BACKSLASH, keep, findKeptText, QUOTE } from './tokens.ts';

/** The position of a JSON value in the bytes, from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One member of an object. The span is that of its value; `keyStart` is the opening quote of its key. */
export interface Member extends Span {
  readonly key: string;
  readonly keyStart: number;
  /** The members of the value, if the scan's plan lists them and the value is an object. */
  readonly object: JsonObject | undefined;
  /** Number of members before it, planned or not. */
  readonly index: number;
  /** The end of the previous value and the start of the next key; -1 if there is none. */
  readonly previousEnd: number;
  readonly nextStart: number;
}

export interface JsonObject extends Span {
  /** The planned members, in order. */
  readonly members: readonly Member[];
  /** Number of members, planned or not. */
  readonly size: number;
}

export function findMember(object: JsonObject | undefined, key: string): Member | undefined {
  if (object === undefined) return undefined;
  for (const member of object.members) if (member.key === key) return member;
  return undefined;
}

/**
 * Maximum text length in bytes decoded in one turn of the event loop, with escapes (which take longer) and without. The
 * longest texts sent by peers are call states (`requestState`).
 */
const MAX_ESCAPED_LENGTH = 8 * 1024 * 1024;
const MAX_TEXT_LENGTH = 64 * 1024 * 1024;

/** The text of a JSON string; undefined if the span contains another kind of value or a longer text. */
export function readJsonString(bytes: Buffer, span: Span | undefined): string | undefined {
  if (span === undefined || bytes[span.start] !== QUOTE) return undefined;
  const start = span.start + 1;
  const end = span.end - 1;
  const kept = findKeptText(bytes, start, end);
  if (kept !== undefined) return kept;
  const length = end - start;
  if (length > MAX_TEXT_LENGTH) return undefined;
  if (length > MAX_ESCAPED_LENGTH && bytes.subarray(span.start, span.end).includes(BACKSLASH))
    return undefined;
  const raw = bytes.toString('utf8', start, end);
  if (!raw.includes('\\')) return keep(bytes, start, raw);
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined; // only a lenient scan accepts such a string
  }
}

/** Only `null` starts with it. */
const LETTER_N = 0x6e;

export function isNull(bytes: Buffer, span: Span): boolean {
  return bytes[span.start] === LETTER_N;
}

/** The value as written. */
export function readRawValue(bytes: Buffer, span: Span): string {
  return bytes.toString('utf8', span.start, span.end);
}

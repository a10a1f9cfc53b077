import { isUtf8 } from 'node:buffer';
import { MAX_DEPTH, MAX_SERVER_DEPTH, Scanner, type Fault } from './scanner.ts';
import type { JsonObject, Plan, Span } from './spans.ts';

export interface ScanOptions {
  readonly plan: Plan;
  /**
   * Strict: the bytes are proven to be JSON (RFC 8259) in UTF-8. Otherwise long strings are only searched for their end,
   * thirty times as fast, which is enough to splice what a peer sent and to pass it on.
   */
  readonly strict: boolean;
  /** Whether a planned key may stand only once, so that no two readers of the message take different ones. */
  readonly refusesTwice?: boolean;
  /** MAX_DEPTH where nothing is said. */
  readonly maxDepth?: number;
}

/** `isProven`: nothing was only searched for its end. */
export type Scan =
  | { readonly ok: true; readonly value: JsonObject; readonly isProven: boolean }
  | { readonly ok: false; readonly fault: Fault };

export const NO_OBJECT = 'not a JSON object';

/** Scans one JSON object that fills the bytes (white space around it allowed). */
export function scanObject(bytes: Buffer, options: ScanOptions): Scan {
  if (options.strict && !isUtf8(bytes))
    return { ok: false, fault: { reason: 'not UTF-8', isJson: false, offset: 0 } };
  const scanner = new Scanner(bytes, {
    strict: options.strict,
    refusesTwice: options.refusesTwice === true,
    maxDepth: options.maxDepth ?? MAX_DEPTH,
  });
  const start = scanner.space(0);
  if (bytes[start] !== OPEN_BRACE)
    return { ok: false, fault: { reason: NO_OBJECT, isJson: false, offset: start } };
  const value = scanner.object(start, options.plan);
  if (value === undefined) return { ok: false, fault: scanner.fault };
  const rest = scanner.space(value.end);
  if (rest < bytes.length)
    return {
      ok: false,
      fault: { reason: 'text after the end of the JSON value', isJson: false, offset: rest },
    };
  return { ok: true, value, isProven: scanner.isProven };
}

/**
 * The members at the front of an object that goes on beyond the bytes, up to the first of the keys in `stopAt`.
 * Undefined if the bytes end, or are no JSON, before that.
 */
export function scanFront(bytes: Buffer, plan: Plan, stopAt: ReadonlySet<string>): JsonObject | undefined {
  const scanner = new Scanner(bytes, { strict: false, refusesTwice: false, maxDepth: MAX_SERVER_DEPTH });
  const start = scanner.space(0);
  return bytes[start] === OPEN_BRACE ? scanner.front(start, plan, stopAt) : undefined;
}

/** The elements of an array that fills the bytes, white space around it allowed; undefined if it is no such array. */
export function scanWholeArray(bytes: Buffer): readonly Span[] | undefined {
  if (!isUtf8(bytes)) return undefined;
  const spans = scanArray(bytes, 0, true);
  const last = spans?.at(-1)?.end ?? bytes.indexOf(OPEN_BRACKET) + 1;
  return /^[ \t\r\n]*\][ \t\r\n]*$/.test(bytes.toString('latin1', last)) ? spans : undefined;
}

/** The spans of an array's elements. `start` is where the array opens; undefined if it is no JSON array. */
export function scanArray(bytes: Buffer, start: number, strict: boolean): readonly Span[] | undefined {
  const scanner = new Scanner(bytes, { strict, refusesTwice: false, maxDepth: MAX_SERVER_DEPTH });
  let at = scanner.space(start);
  if (bytes[at] !== OPEN_BRACKET) return undefined;
  const spans: Span[] = [];
  at = scanner.space(at + 1);
  if (bytes[at] === CLOSE_BRACKET) return spans;
  for (;;) {
    const from = scanner.space(at);
    const end = scanner.skip(from);
    if (end < 0) return undefined;
    spans.push({ start: from, end });
    at = scanner.space(end);
    if (bytes[at] === CLOSE_BRACKET) return spans;
    if (bytes[at] !== COMMA) return undefined;
    at += 1;
  }
}

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

import { isUtf8 } from 'node:buffer';
import { ALL_MEMBERS, type Plan } from './plan.ts';
import { MAX_DEPTH, MAX_SERVER_DEPTH, Scanner, type Fault } from './scanner.ts';
import type { JsonObject, Member, Span } from './spans.ts';
import { OPEN_BRACE, OPEN_BRACKET } from './tokens.ts';

export interface ScanOptions {
  readonly plan: Plan;
  /**
   * Strict: the bytes are validated as JSON (RFC 8259) in UTF-8. Otherwise, long strings are only searched for their
   * end. This is thirty times as fast and enough to splice and relay a peer's message.
   */
  readonly strict: boolean;
  /**
   * Whether a planned key may appear only once and only in its own case, so that all readers, even ones that ignore
   * case, use the same members.
   */
  readonly refusesTwice?: boolean;
  /** Defaults to MAX_DEPTH. */
  readonly maxDepth?: number;
}

/** `isProven`: every string was validated, not just searched for its end. `values`: number of values skipped. */
export type Scan =
  | { readonly ok: true; readonly value: JsonObject; readonly isProven: boolean; readonly values: number }
  | {
      readonly ok: false;
      readonly fault: Fault;
      /** Set if a duplicate member is the only fault; `ambiguous` lists the affected top-level keys. */
      readonly value?: JsonObject;
      readonly ambiguous?: ReadonlySet<string>;
    };

/** Scans one JSON object that fills the bytes; surrounding white space is allowed. */
export function scanObject(bytes: Buffer, options: ScanOptions): Scan {
  return new ObjectScan(bytes, options, false).step(Infinity) ?? NEVER;
}

const NEVER: Scan = { ok: false, fault: { reason: 'the scan did not end', isJson: false, offset: 0 } };

/** The same in steps, each over about `bytes` bytes. */
export class ObjectScan {
  readonly #bytes: Buffer;
  readonly #scanner: Scanner;
  readonly #isObject: boolean;
  readonly #fault: Fault | undefined;
  #until: number;

  constructor(bytes: Buffer, options: ScanOptions, inSteps: boolean) {
    this.#bytes = bytes;
    const { strict, refusesTwice = false, maxDepth = MAX_DEPTH } = options;
    const scanner = new Scanner(bytes, { strict, refusesTwice, maxDepth, inSteps });
    const start = scanner.space(0);
    this.#until = start;
    this.#isObject = bytes[start] === OPEN_BRACE;
    this.#scanner = this.#isObject
      ? scanner
      : new Scanner(bytes, { strict: true, refusesTwice, maxDepth, inSteps });
    if (strict && !isUtf8(bytes)) this.#fault = { reason: 'not UTF-8', isJson: false, offset: 0 };
    else if (this.#isObject) scanner.beginObject(start, options.plan, MAX_LISTED);
    else this.#scanner.beginValue(start);
  }

  /** Undefined while there is more to scan. */
  step(bytes: number): Scan | undefined {
    const scanner = this.#scanner;
    if (this.#fault !== undefined) return { ok: false, fault: this.#fault };
    this.#until += bytes;
    const progress = scanner.run(this.#until);
    if (progress === 'more') return undefined;
    if (!this.#isObject) return this.#noObject(progress === 'done');
    if (progress === 'fault') return { ok: false, fault: scanner.fault };
    const rest = scanner.space(scanner.end);
    if (rest < this.#bytes.length) return { ok: false, fault: { ...TEXT_AFTER, offset: rest } };
    const { root: value, twin, isProven, values, twinsAtRoot: ambiguous } = scanner;
    if (value === undefined) return NEVER;
    return twin === undefined
      ? { ok: true, value, isProven, values }
      : { ok: false, fault: twin, value, ...(ambiguous && { ambiguous }) };
  }

  /** JSON but not an object: an invalid request rather than a parse error (JSON-RPC 2.0, section 5.1). */
  #noObject(isValue: boolean): Scan {
    const { end } = this.#scanner;
    const isJson = isValue && this.#scanner.space(end) === this.#bytes.length;
    return {
      ok: false,
      fault: { reason: 'not a JSON object', isOtherType: true, isJson, offset: this.#scanner.space(0) },
    };
  }
}

const TEXT_AFTER = { reason: 'text after the end of the JSON value', isJson: false } as const;

/** Limit if all members are listed, so that the scan does not block others. */
const MAX_LISTED = 10_000;

/** All members of an object that fills the bytes; undefined if it is not an object or has too many. */
export function scanMembers(bytes: Buffer): readonly Member[] | undefined {
  const scan = scanObject(bytes, { plan: ALL_MEMBERS, strict: false, maxDepth: MAX_SERVER_DEPTH });
  return scan.ok ? scan.value.members : undefined;
}

/**
 * Scans the elements of an array that fills the bytes, with surrounding white space allowed, in steps of about `bytes`
 * bytes. The error says why it is not an array, or that it has more than `max` elements.
 */
export class ArrayScan {
  readonly #bytes: Buffer;
  readonly #scanner: Scanner;
  readonly #isArray: boolean;
  #until: number;

  constructor(bytes: Buffer, max: number) {
    this.#bytes = bytes;
    this.#scanner = new Scanner(bytes, {
      strict: true,
      refusesTwice: false,
      maxDepth: MAX_SERVER_DEPTH,
      inSteps: true,
    });
    this.#until = this.#scanner.space(0);
    this.#isArray = bytes[this.#until] === OPEN_BRACKET && isUtf8(bytes);
    if (this.#isArray) this.#scanner.beginArray(this.#until, max);
  }

  step(bytes: number): readonly Span[] | Fault | undefined {
    const scanner = this.#scanner;
    if (!this.#isArray) return NO_ARRAY;
    this.#until += bytes;
    const progress = scanner.run(this.#until);
    if (progress === 'more') return undefined;
    if (progress === 'fault') return scanner.fault;
    return scanner.space(scanner.end) === this.#bytes.length ? scanner.elements : NO_ARRAY;
  }
}

const NO_ARRAY: Fault = { reason: 'not a JSON array', isJson: false, offset: 0 };

/** The spans of an array's elements. `start` is where the array opens; undefined if it is not a JSON array. */
export function scanArray(bytes: Buffer, start: number, strict: boolean): readonly Span[] | undefined {
  const scanner = new Scanner(bytes, { strict, refusesTwice: false, maxDepth: MAX_SERVER_DEPTH });
  const from = scanner.space(start);
  if (bytes[from] !== OPEN_BRACKET) return undefined;
  scanner.beginArray(from, Infinity);
  return scanner.run(Infinity) === 'done' ? scanner.elements : undefined;
}

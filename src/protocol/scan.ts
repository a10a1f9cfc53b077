import { isUtf8 } from 'node:buffer';
import { ALL_MEMBERS, type Plan } from './plan.ts';
import { MAX_DEPTH, MAX_SERVER_DEPTH, Scanner, type Fault } from './scanner.ts';
import type { JsonObject, Member, Span } from './spans.ts';
import { OPEN_BRACE, OPEN_BRACKET } from './tokens.ts';

export interface ScanOptions {
  readonly plan: Plan;
  /**
   * Strict: the bytes are proven to be JSON (RFC 8259) in UTF-8. Otherwise long strings are only searched for their end,
   * thirty times as fast, which is enough to splice what a peer sent and to pass it on.
   */
  readonly strict: boolean;
  /**
   * Whether a planned key may stand only once and in its own case alone, so that no two readers of the message take
   * different members, not even one that ignores case.
   */
  readonly refusesTwice?: boolean;
  /** MAX_DEPTH where nothing is said. */
  readonly maxDepth?: number;
}

/** `isProven`: nothing was only searched for its end. `values`: how many values were stepped over. */
export type Scan =
  | { readonly ok: true; readonly value: JsonObject; readonly isProven: boolean; readonly values: number }
  | {
      readonly ok: false;
      readonly fault: Fault;
      /** There where only a member that stands twice speaks against it; `ambiguous` names those of its own members. */
      readonly value?: JsonObject;
      readonly ambiguous?: ReadonlySet<string>;
    };

/** Scans one JSON object that fills the bytes (white space around it allowed). */
export function scanObject(bytes: Buffer, options: ScanOptions): Scan {
  return new ObjectScan(bytes, options, false).step(Infinity) ?? NEVER;
}

const NEVER: Scan = { ok: false, fault: { reason: 'the scan did not end', isJson: false, offset: 0 } };

/** The same in steps, each of them over about so many bytes. */
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
    else if (this.#isObject) scanner.beginObject(start, options.plan, MOST_LISTED);
    else this.#scanner.beginValue(start);
  }

  /** Undefined: there is more to be scanned. */
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

  /** JSON, but no object: an invalid request rather than a parse error (JSON-RPC 2.0, section 5.1). */
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

/** Where all members are listed, more than anybody would write would hold up others. */
const MOST_LISTED = 10_000;

/** All members of an object that fills the bytes; undefined if it is no such object, or has too many. */
export function scanMembers(bytes: Buffer): readonly Member[] | undefined {
  const scan = scanObject(bytes, { plan: ALL_MEMBERS, strict: false, maxDepth: MAX_SERVER_DEPTH });
  return scan.ok ? scan.value.members : undefined;
}

/**
 * The elements of an array that fills the bytes, white space around it allowed, in steps over about so many bytes. The error
 * says why it is no such array, or that it has more than `most`.
 */
export class ArrayScan {
  readonly #bytes: Buffer;
  readonly #scanner: Scanner;
  readonly #isArray: boolean;
  #until: number;

  constructor(bytes: Buffer, most: number) {
    this.#bytes = bytes;
    this.#scanner = new Scanner(bytes, {
      strict: true,
      refusesTwice: false,
      maxDepth: MAX_SERVER_DEPTH,
      inSteps: true,
    });
    this.#until = this.#scanner.space(0);
    this.#isArray = bytes[this.#until] === OPEN_BRACKET && isUtf8(bytes);
    if (this.#isArray) this.#scanner.beginArray(this.#until, most);
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

/** The spans of an array's elements. `start` is where the array opens; undefined if it is no JSON array. */
export function scanArray(bytes: Buffer, start: number, strict: boolean): readonly Span[] | undefined {
  const scanner = new Scanner(bytes, { strict, refusesTwice: false, maxDepth: MAX_SERVER_DEPTH });
  const from = scanner.space(start);
  if (bytes[from] !== OPEN_BRACKET) return undefined;
  scanner.beginArray(from, Infinity);
  return scanner.run(Infinity) === 'done' ? scanner.elements : undefined;
}

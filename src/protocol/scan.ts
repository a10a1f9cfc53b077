import { isUtf8 } from 'node:buffer';

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

export interface ScanOptions {
  readonly plan: Plan;
  /**
   * Strict: the bytes are proven to be JSON (RFC 8259) in UTF-8. Otherwise long strings are only searched for their end,
   * thirty times as fast, which is enough to splice what a peer sent and to pass it on.
   */
  readonly strict: boolean;
}

/** Why bytes are no usable JSON, with the offset where that showed. */
export interface Fault {
  readonly reason: string;
  /** Whether the bytes may well be JSON, but not of a kind that is accepted. */
  readonly isJson: boolean;
  readonly offset: number;
}

/** `isProven`: nothing was only searched for its end. */
export type Scan =
  | { readonly ok: true; readonly value: JsonObject; readonly isProven: boolean }
  | { readonly ok: false; readonly fault: Fault };

export const NO_OBJECT = 'not a JSON object';

/** Objects and arrays inside each other at most this deep, as in most JSON parsers that have a limit. */
export const MAX_DEPTH = 256;

/** Scans one JSON object that fills the bytes (white space around it allowed). Duplicates of planned keys are refused. */
export function scanObject(bytes: Buffer, options: ScanOptions): Scan {
  if (!isUtf8(bytes)) return { ok: false, fault: { reason: 'not UTF-8', isJson: false, offset: 0 } };
  const scanner = new Scanner(bytes, options.strict);
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
  const scanner = new Scanner(bytes, false);
  const start = scanner.space(0);
  return bytes[start] === OPEN_BRACE ? scanner.front(start, plan, stopAt) : undefined;
}

/** The spans of an array's elements. `start` is where the array opens; undefined if it is no JSON array. */
export function scanArray(bytes: Buffer, start: number, strict: boolean): readonly Span[] | undefined {
  const scanner = new Scanner(bytes, strict);
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

export function memberOf(object: JsonObject | undefined, key: string): Member | undefined {
  if (object === undefined) return undefined;
  for (const member of object.members) if (member.key === key) return member;
  return undefined;
}

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;
/** From this length on a string is searched by words or by `indexOf`, below it byte by byte. */
const LONG_STRING = 32;
/** What is open at each depth. One for all scans: a scan never waits, so no two are under way at once. */
const KINDS = new Uint8Array(MAX_DEPTH + 1);
const TOO_DEEP = { reason: `nested more than ${MAX_DEPTH} deep`, isJson: true };

/** A cursor over one message. Positions are returned, a negative one means a fault, which `fault` describes. */
class Scanner {
  readonly #bytes: Buffer;
  readonly #strict: boolean;
  #depth = 0;
  isProven = true;
  #words: DataView | undefined;
  fault: Fault = { reason: 'not JSON', isJson: false, offset: 0 };

  constructor(bytes: Buffer, strict: boolean) {
    this.#bytes = bytes;
    this.#strict = strict;
  }

  space(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    for (;;) {
      const byte = bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
      at += 1;
    }
  }

  /** An object whose members are wanted. `from` is its opening brace. */
  object(from: number, plan: Plan): JsonObject | undefined {
    if (++this.#depth > MAX_DEPTH) {
      this.fault = { ...TOO_DEEP, offset: from };
      return undefined;
    }
    const bytes = this.#bytes;
    const members: Member[] = [];
    let at = this.space(from + 1);
    if (bytes[at] !== CLOSE_BRACE) {
      for (;;) {
        const member = this.#member(at, plan);
        if (member === undefined) return undefined;
        if (plan.has(member.key) && members.some((other) => other.key === member.key)) {
          this.fault = {
            reason: `the member ${JSON.stringify(member.key)} stands there twice`,
            isJson: true,
            offset: at,
          };
          return undefined;
        }
        members.push(member);
        at = this.space(member.end);
        if (bytes[at] === CLOSE_BRACE) break;
        if (bytes[at] !== COMMA) {
          this.#fail('expected "," or "}"', at);
          return undefined;
        }
        at = this.space(at + 1);
      }
    }
    this.#depth -= 1;
    return { start: from, end: at + 1, members };
  }

  front(from: number, plan: Plan, stopAt: ReadonlySet<string>): JsonObject | undefined {
    const bytes = this.#bytes;
    const members: Member[] = [];
    let at = this.space(from + 1);
    for (;;) {
      const start = this.#key(at);
      if (start < 0 || start >= bytes.length) return undefined;
      if (stopAt.has(this.#text(at))) return { start: from, end: start, members };
      const member = this.#member(at, plan);
      if (member === undefined) return undefined;
      members.push(member);
      at = this.space(member.end);
      if (bytes[at] !== COMMA) return undefined;
      at = this.space(at + 1);
    }
  }

  /** Steps over one value of any kind without recursion; `from` is its first byte. */
  skip(from: number): number {
    const bytes = this.#bytes;
    const base = this.#depth;
    let at = from;
    for (;;) {
      const byte = bytes[at];
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        const inner = this.space(at + 1);
        if (bytes[inner] === byte + 2) {
          at = inner + 1; // "}" and "]" stand two places after "{" and "[" in ASCII
        } else {
          if (++this.#depth > MAX_DEPTH) {
            this.fault = { ...TOO_DEEP, offset: at };
            return -1;
          }
          KINDS[this.#depth] = byte;
          at = byte === OPEN_BRACE ? this.#key(inner) : inner;
          if (at < 0) return at;
          continue;
        }
      } else {
        at = this.#scalar(at);
        if (at < 0) return at;
      }
      at = this.#close(at, base);
      if (at < 0 || this.#depth === base) return at;
    }
  }

  /** After a value: closes what ends here, and stops at the next value or, at depth `base`, at the end. */
  #close(from: number, base: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (this.#depth > base) {
      at = this.space(at);
      const byte = bytes[at];
      const kind = KINDS[this.#depth] ?? 0;
      if (byte === COMMA) {
        at = this.space(at + 1);
        return kind === OPEN_BRACE ? this.#key(at) : at;
      }
      if (byte !== kind + 2) return this.#fail('expected "," or the end of the object or array', at);
      this.#depth -= 1;
      at += 1;
    }
    return at;
  }

  #member(from: number, plan: Plan): Member | undefined {
    const start = this.#key(from);
    if (start < 0) return undefined;
    const key = this.#text(from);
    const deeper = plan.get(key);
    if (deeper !== undefined && this.#bytes[start] === OPEN_BRACE) {
      const object = this.object(start, deeper);
      return object && { key, keyStart: from, start, end: object.end, object };
    }
    const end = this.skip(start);
    return end < 0 ? undefined : { key, keyStart: from, start, end, object: undefined };
  }

  /** Steps over `"key" :` and the space after it. */
  #key(from: number): number {
    if (this.#bytes[from] !== QUOTE) return this.#fail('expected a member name in quotes', from);
    const end = this.#string(from + 1);
    if (end < 0) return end;
    const colon = this.space(end);
    if (this.#bytes[colon] !== COLON) return this.#fail('expected ":"', colon);
    return this.space(colon + 1);
  }

  /** The text of the key that opens at `from` and is known to be well formed. */
  #text(from: number): string {
    const bytes = this.#bytes;
    let plain = true;
    let at = from + 1;
    for (; bytes[at] !== QUOTE; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === BACKSLASH) {
        plain = false;
        at += 1;
      } else if (byte > 0x7e) plain = false;
    }
    if (plain) return bytes.toString('latin1', from + 1, at);
    return textOf(bytes, { start: from, end: at + 1 }) ?? '';
  }

  #scalar(at: number): number {
    switch (this.#bytes[at]) {
      case QUOTE:
        return this.#string(at + 1);
      case 0x74:
        return this.#literal(at, 'true');
      case 0x66:
        return this.#literal(at, 'false');
      case 0x6e:
        return this.#literal(at, 'null');
      default:
        return this.#number(at);
    }
  }

  #literal(at: number, text: string): number {
    const end = at + text.length;
    return this.#bytes.toString('latin1', at, end) === text ? end : this.#fail('expected a JSON value', at);
  }

  #number(from: number): number {
    const bytes = this.#bytes;
    let at = bytes[from] === 0x2d ? from + 1 : from;
    const whole = at;
    at = this.#digits(at);
    if (at === whole) return this.#fail('expected a JSON value', from);
    if (bytes[whole] === ZERO && at > whole + 1) return this.#fail('a number may not start with 0', whole);
    if (bytes[at] === 0x2e) {
      const fraction = at + 1;
      at = this.#digits(fraction);
      if (at === fraction) return this.#fail('expected a digit', at);
    }
    const exponent = bytes[at];
    if (exponent === 0x65 || exponent === 0x45) {
      const sign = bytes[at + 1];
      const power = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
      at = this.#digits(power);
      if (at === power) return this.#fail('expected a digit', at);
    }
    return at;
  }

  #digits(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    for (;;) {
      const byte = bytes[at];
      if (byte === undefined || byte < ZERO || byte > NINE) return at;
      at += 1;
    }
  }

  /** Steps over a string; `from` is the byte after its opening quote. */
  #string(from: number): number {
    const bytes = this.#bytes;
    const near = Math.min(from + LONG_STRING, bytes.length);
    let at = from;
    for (;;) {
      if (at >= near) {
        if (at >= bytes.length) return this.#fail('a string does not end', from);
        if (!this.#strict) {
          this.isProven = false;
          return this.#stringEnd(at);
        }
        at = this.#plainWords(at);
      }
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === undefined) return this.#fail('a string does not end', from);
      if (byte === BACKSLASH) {
        at = this.#escape(at);
        if (at < 0) return at;
      } else if (byte < 0x20) {
        return this.#fail('a control character inside a string', at);
      } else at += 1;
    }
  }

  #escape(at: number): number {
    const byte = this.#bytes[at + 1] ?? 0;
    if (byte === 0x75) {
      const digits = this.#bytes.toString('latin1', at + 2, at + 6);
      return /^[\dA-Fa-f]{4}$/.test(digits) ? at + 6 : this.#fail('a bad \\u escape', at);
    }
    return byte !== 0 && '"\\/bfnrt'.includes(String.fromCharCode(byte))
      ? at + 2
      : this.#fail('a bad escape in a string', at);
  }

  /**
   * Steps over four bytes at a time while none of them is a quote, a backslash or a control character
   * (the usual zero-in-word test); four times as fast as byte by byte at 100 kB.
   */
  #plainWords(from: number): number {
    const bytes = this.#bytes;
    const words = (this.#words ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
    const last = bytes.length - 4;
    let at = from;
    for (; at <= last; at += 4) {
      const word = words.getUint32(at, true);
      const quotes = word ^ 0x22222222;
      const backslashes = word ^ 0x5c5c5c5c;
      const hit =
        ((word - 0x20202020) & ~word) |
        ((quotes - 0x01010101) & ~quotes) |
        ((backslashes - 0x01010101) & ~backslashes);
      if ((hit & 0x80808080) !== 0) break;
    }
    return at;
  }

  /** Lenient end of a long string: the next quote that no odd run of backslashes escapes. */
  #stringEnd(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    for (;;) {
      at = bytes.indexOf(QUOTE, at);
      if (at < 0) return this.#fail('a string does not end', from);
      let before = at - 1;
      while (bytes[before] === BACKSLASH) before -= 1;
      if ((at - before) % 2 === 1) return at + 1;
      at += 1;
    }
  }

  #fail(reason: string, offset: number): number {
    this.fault = { reason, isJson: false, offset };
    return -1;
  }
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

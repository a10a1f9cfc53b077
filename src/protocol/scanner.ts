import { textOf, type JsonObject, type Member, type Plan } from './spans.ts';
import { escapeEnd, keyText, scalarEnd } from './tokens.ts';

/** Why bytes are no usable JSON, with the offset where that showed. */
export interface Fault {
  readonly reason: string;
  /** Whether the bytes may well be JSON, but not of a kind that is accepted. */
  readonly isJson: boolean;
  readonly offset: number;
}

/** Objects and arrays inside each other at most this deep, as in most JSON parsers that have a limit. */
export const MAX_DEPTH = 256;
/** What servers send is relayed, so it may be as deep as anything in use. */
export const MAX_SERVER_DEPTH = 10_000;

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
/** From this length on a string is searched by words or by `indexOf`, below it byte by byte. */
const LONG_STRING = 32;
/** So much of a long string is searched as text at once. */
const WINDOW_BYTES = 16_384;
/** What is open at each depth. One for all scans: a scan never waits, so no two are under way at once. */
const KINDS = new Uint8Array(MAX_SERVER_DEPTH + 1);

function tooDeep(limit: number, offset: number): Fault {
  return { reason: `nested more than ${limit} deep`, isJson: true, offset };
}

export interface ScannerOptions {
  readonly strict: boolean;
  readonly refusesTwice: boolean;
  readonly maxDepth: number;
}

/** A cursor over one message. Positions are returned, a negative one means a fault, which `fault` describes. */
export class Scanner {
  readonly #bytes: Buffer;
  readonly #strict: boolean;
  readonly #refusesTwice: boolean;
  readonly #maxDepth: number;
  #depth = 0;
  isProven = true;
  #words: DataView | undefined;
  fault: Fault = { reason: 'not JSON', isJson: false, offset: 0 };

  constructor(bytes: Buffer, { strict, refusesTwice, maxDepth }: ScannerOptions) {
    this.#bytes = bytes;
    this.#strict = strict;
    this.#refusesTwice = refusesTwice;
    this.#maxDepth = maxDepth;
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
    if (++this.#depth > this.#maxDepth) {
      this.fault = tooDeep(this.#maxDepth, from);
      return undefined;
    }
    const bytes = this.#bytes;
    const members: Member[] = [];
    let at = this.space(from + 1);
    if (bytes[at] !== CLOSE_BRACE) {
      for (;;) {
        const member = this.#member(at, plan);
        if (member === undefined) return undefined;
        if (this.#refusesTwice && plan.has(member.key) && members.some((other) => other.key === member.key)) {
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
      const key = this.#text(at);
      if (stopAt.has(key)) {
        members.push({ key, keyStart: at, start, end: bytes.length, object: undefined });
        return { start: from, end: bytes.length, members };
      }
      const member = this.#member(at, plan);
      const isTwice = members.some(({ key: other }) => other === member?.key);
      if (member === undefined || isTwice) return undefined;
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
        if (bytes[inner] === byte + 2 && this.#depth < this.#maxDepth) {
          at = inner + 1; // "}" and "]" stand two places after "{" and "[" in ASCII
        } else {
          if (++this.#depth > this.#maxDepth) {
            this.fault = tooDeep(this.#maxDepth, at);
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
    if (plain) return keyText(bytes, from + 1, at);
    return textOf(bytes, { start: from, end: at + 1 }) ?? '';
  }

  #scalar(at: number): number {
    if (this.#bytes[at] === QUOTE) return this.#string(at + 1);
    const end = scalarEnd(this.#bytes, at);
    return end < 0 ? this.#fail('expected a JSON value', at) : end;
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
        const end = escapeEnd(bytes, at);
        if (end < 0) return this.#fail('a bad escape in a string', at);
        at = end;
      } else if (byte < 0x20) {
        return this.#fail('a control character inside a string', at);
      } else at += 1;
    }
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

  /**
   * Lenient end of a long string: the next quote that no odd run of backslashes escapes. Where there is one escaped quote
   * there are many, and a search in a string finds them three times as fast as one in bytes.
   */
  #stringEnd(from: number): number {
    const bytes = this.#bytes;
    const first = bytes.indexOf(QUOTE, from);
    if (first < 0) return this.#fail('a string does not end', from);
    if (!this.#isEscaped(first)) return first + 1;
    for (let start = first + 1; start < bytes.length; start += WINDOW_BYTES) {
      const text = bytes.toString('latin1', start, start + WINDOW_BYTES);
      for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1))
        if (!this.#isEscaped(start + at)) return start + at + 1;
    }
    return this.#fail('a string does not end', from);
  }

  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#bytes[before] === BACKSLASH) before -= 1;
    return (at - before) % 2 === 0;
  }

  #fail(reason: string, offset: number): number {
    this.fault = { reason, isJson: false, offset };
    return -1;
  }
}

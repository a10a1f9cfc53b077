import { BACKSLASH, QUOTE, findEscapeEnd } from './tokens.ts';

/** Used in place of a position: the bytes are not JSON (see `fault`), or the step has ended. */
export const FAULT = -1;
export const PAUSED = -2;

const BACKSLASHES = 0x5c5c5c5c;
/** From this length on, a string is searched by words or by `indexOf`; before that, byte by byte. */
const LONG_STRING = 32;
/** Number of bytes of a long string searched as text at once. */
const WINDOW_BYTES = 16_384;

/** Finds the ends of the strings of one JSON text. It can stop inside a long one and continue in another step. */
export class StringReader {
  readonly #bytes: Buffer;
  readonly #strict: boolean;
  #words: DataView | undefined;
  /** Where to continue the string in which the last step stopped; -1 if it stopped outside of strings. */
  #openFrom = -1;
  #isSearched = false;
  /** Whether every string was validated rather than only searched for its end. */
  isProven = true;
  fault: { readonly reason: string; readonly offset: number } = { reason: 'not JSON', offset: 0 };

  constructor(bytes: Buffer, strict: boolean) {
    this.#bytes = bytes;
    this.#strict = strict;
  }

  /** Whether the last step stopped inside a string. */
  get isInside(): boolean {
    return this.#openFrom >= 0;
  }

  /** Continues the string in which the last step stopped. */
  resume(until: number): number {
    const from = this.#openFrom;
    this.#openFrom = -1;
    return this.#isSearched ? this.#search(from, until) : this.end(from, until);
  }

  /** Abandons the string in which the last step stopped. */
  forget(): void {
    this.#openFrom = -1;
  }

  /** The position after a string's closing quote; `from` is the byte after its opening quote, or where a step ended. */
  end(from: number, until: number): number {
    const bytes = this.#bytes;
    const near = Math.min(from + LONG_STRING, bytes.length);
    let at = from;
    for (;;) {
      if (at >= near) {
        if (at >= bytes.length) return this.#fail('a string does not end', from);
        if (!this.#strict) {
          this.isProven = false;
          return this.#stringEnd(at, until);
        }
        if (at >= until) return this.#pausedIn(at, false);
        at = this.#plainWords(at, until);
      }
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === undefined) return this.#fail('a string does not end', from);
      if (byte === BACKSLASH) {
        const end = findEscapeEnd(bytes, at);
        if (end < 0) return this.#fail('a bad escape in a string', at);
        at = end;
      } else if (byte < 0x20) {
        return this.#fail('a control character inside a string', at);
      } else at += 1;
    }
  }

  /**
   * Skips plain bytes, four at a time, up to a quote, a backslash or a control character, to the last few bytes, or to
   * `until`; several times as fast as byte by byte at 100 kB.
   */
  #plainWords(from: number, until: number): number {
    const words = this.#words ?? this.#openWords();
    const last = this.#bytes.length - 4;
    let at = from;
    for (; at <= last && at < until; at += 4) {
      const special = specialBits(words.getUint32(at, true));
      if (special !== 0) return at + ((31 - Math.clz32(special & -special)) >> 3);
    }
    return at;
  }

  /** Not a private getter: V8 calls its runtime for each access to one. */
  #openWords(): DataView {
    const bytes = this.#bytes;
    return (this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
  }

  /** Lenient end of a long string: the next quote that is not escaped. */
  #stringEnd(from: number, until: number): number {
    const bytes = this.#bytes;
    const first = bytes.indexOf(QUOTE, from);
    if (first < 0) return this.#fail('a string does not end', from);
    return this.#isEscaped(first) ? this.#search(first + 1, until) : first + 1;
  }

  /** One escaped quote suggests many, and searching a string finds them three times as fast as searching bytes. */
  #search(from: number, until: number): number {
    const bytes = this.#bytes;
    for (let start = from; start < bytes.length; start += WINDOW_BYTES) {
      if (start >= until) return this.#pausedIn(start, true);
      const text = bytes.toString('latin1', start, start + WINDOW_BYTES);
      for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1))
        if (!this.#isEscaped(start + at)) return start + at + 1;
    }
    return this.#fail('a string does not end', from);
  }

  #isEscaped(at: number): boolean {
    const bytes = this.#bytes;
    let before = at - 1;
    if (bytes[before] !== BACKSLASH) return false;
    if (bytes[before - 1] !== BACKSLASH) return true;
    const words = this.#words ?? this.#openWords();
    while (before > 3 && words.getUint32(before - 3, true) === BACKSLASHES) before -= 4;
    while (bytes[before] === BACKSLASH) before -= 1;
    return (at - before) % 2 === 0;
  }

  #pausedIn(from: number, isSearched: boolean): number {
    this.#openFrom = from;
    this.#isSearched = isSearched;
    return PAUSED;
  }

  #fail(reason: string, offset: number): number {
    this.fault = { reason, offset };
    return FAULT;
  }
}

/**
 * The highest bit of each of the four bytes that is a quote, a backslash or a control character: the usual test for a
 * zero byte, three times. Only the lowest bit is certain, as a byte that matches borrows from the next one.
 */
function specialBits(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ BACKSLASHES;
  const bits =
    ((word - 0x20202020) & ~word) |
    ((quotes - 0x01010101) & ~quotes) |
    ((backslashes - 0x01010101) & ~backslashes);
  return bits & 0x80808080;
}

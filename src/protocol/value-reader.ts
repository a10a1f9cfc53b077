import { FAULT, PAUSED, StringReader } from './string-reader.ts';
import { COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, scalarEnd } from './tokens.ts';

/** Why bytes are no usable JSON, with the offset where that showed. */
export interface Fault {
  readonly reason: string;
  /** Whether the bytes may well be JSON, but not of a kind that is accepted. */
  readonly isJson: boolean;
  /** Whether it begins another value than the one that was looked for. */
  readonly isOtherType?: true;
  readonly offset: number;
}

/** Objects and arrays inside each other at most this deep, as in most JSON parsers that have a limit. */
export const MAX_DEPTH = 256;
/** What servers send is relayed, so it may be as deep as anything in use. */
export const MAX_SERVER_DEPTH = 10_000;
/** No name, no number and no space between two tokens is longer in bytes: a scan in steps cannot stop inside of one. */
export const LONGEST_TOKEN: number = 1024 * 1024;

/** What is open at each depth. One for all scans that are made at once: no two of them are under way together. */
const KINDS = new Uint8Array(MAX_SERVER_DEPTH + 1);

export interface ReaderOptions {
  readonly strict: boolean;
  readonly maxDepth: number;
  /** Whether the bytes are read in steps, between which others may be read. */
  readonly inSteps?: boolean | undefined;
}

/**
 * Steps over the values of one JSON text without making anything of them. Positions are returned; a negative one means a
 * fault, which `fault` describes, or that the step is over.
 */
export class ValueReader {
  readonly #bytes: Buffer;
  readonly #maxDepth: number;
  readonly #kinds: Uint8Array;
  readonly #strings: StringReader;
  #depth = 0;
  /** The depth at which the value began that is stepped over now. */
  #base = 0;
  #at = 0;
  #isInside = false;
  /** How many values were stepped over: what a parser would have to make of them. */
  values = 0;
  fault: Fault = { reason: 'not JSON', isJson: false, offset: 0 };
  /** Where the name ends that was read last, without its quote. */
  nameEnd = 0;

  constructor(bytes: Buffer, { strict, maxDepth, inSteps }: ReaderOptions) {
    this.#bytes = bytes;
    this.#maxDepth = maxDepth;
    this.#kinds = inSteps === true ? new Uint8Array(maxDepth + 1) : KINDS;
    this.#strings = new StringReader(bytes, strict);
  }

  get isProven(): boolean {
    return this.#strings.isProven;
  }

  /** Goes one level deeper, for an object or array that opens at `at`; false if that is too deep. */
  enter(at: number): boolean {
    this.#depth += 1;
    if (this.#depth <= this.#maxDepth) return true;
    this.refuse(`nested more than ${this.#maxDepth} deep`, at);
    return false;
  }

  leave(): void {
    this.#depth -= 1;
  }

  space(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    for (;;) {
      const byte = bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
      if (at - from > LONGEST_TOKEN) return at; // where a token is expected, and white space is none
      at += 1;
    }
  }

  /** Steps over one value of any kind, or goes on with that inside of which the last step stopped. */
  skip(from: number, until: number): number {
    if (!this.#isInside) {
      this.#base = this.#depth;
      this.#at = from;
    }
    const end = this.#skip(this.#at, until);
    this.#isInside = end === PAUSED;
    return end;
  }

  /** Steps over one value without recursion, or up to where `until` is passed. */
  #skip(from: number, until: number): number {
    const bytes = this.#bytes;
    const base = this.#base;
    let at = from;
    if (this.#strings.isInside) {
      at = this.#checked(this.#strings.resume(until)); // `from` says nothing then
      if (at < 0) return at;
      at = this.#close(at, base);
      if (at < 0 || this.#depth === base) return at;
    }
    for (;;) {
      if (at >= until) {
        this.#at = at;
        return PAUSED;
      }
      this.values += 1;
      const byte = bytes[at];
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        const inner = this.space(at + 1);
        if (bytes[inner] === byte + 2 && this.#depth < this.#maxDepth) {
          at = inner + 1; // "}" and "]" stand two places after "{" and "[" in ASCII
        } else {
          if (!this.enter(at)) return FAULT;
          this.#kinds[this.#depth] = byte;
          at = byte === OPEN_BRACE ? this.#key(inner) : inner;
          if (at < 0) return at;
          continue;
        }
      } else {
        at = this.#scalar(at, until);
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
      const kind = this.#kinds[this.#depth] ?? 0;
      if (byte === COMMA) {
        at = this.space(at + 1);
        return kind === OPEN_BRACE ? this.#key(at) : at;
      }
      if (byte !== kind + 2) return this.fail('expected "," or the end of the object or array', at);
      this.#depth -= 1;
      at += 1;
    }
    return at;
  }

  /** Steps over `"key" :` and the space after it. */
  #key(from: number): number {
    if (this.#bytes[from] !== QUOTE) return this.fail('expected a member name in quotes', from);
    return this.valueOf(this.name(from + 1));
  }

  /** Steps over a name; `from` is the byte after its opening quote. */
  name(from: number): number {
    const end = this.#checked(this.#strings.end(from, from + LONGEST_TOKEN));
    this.nameEnd = end - 1;
    if (end !== PAUSED) return end;
    this.#strings.forget();
    return this.refuse(`a member name longer than ${LONGEST_TOKEN} bytes`, from);
  }

  /** The start of the value whose name ends at `end`. */
  valueOf(end: number): number {
    if (end < 0) return end;
    const colon = this.space(end);
    if (this.#bytes[colon] !== COLON) return this.fail('expected ":"', colon);
    return this.space(colon + 1);
  }

  #scalar(at: number, until: number): number {
    if (this.#bytes[at] === QUOTE) return this.#checked(this.#strings.end(at + 1, until));
    const end = scalarEnd(this.#bytes, at, LONGEST_TOKEN);
    return end < 0 ? this.fail('expected a JSON value', at) : end;
  }

  #checked(end: number): number {
    if (end === FAULT) this.fault = { ...this.#strings.fault, isJson: false };
    return end;
  }

  fail(reason: string, offset: number): number {
    this.fault = { reason, isJson: false, offset };
    return FAULT;
  }

  /** For what may well be JSON, but is not accepted. */
  refuse(reason: string, offset: number): number {
    this.fault = { reason, isJson: true, offset };
    return FAULT;
  }
}

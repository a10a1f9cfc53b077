import { FAULT, PAUSED, StringReader } from './string-reader.ts';
import { COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, findScalarEnd } from './tokens.ts';

/** Why bytes are not usable JSON, with the offset of the fault. */
export interface Fault {
  readonly reason: string;
  /** Whether the bytes may be valid JSON of a kind that is not accepted. */
  readonly isJson: boolean;
  /** Whether another type of value starts here than the expected one. */
  readonly isOtherType?: true;
  readonly offset: number;
}

/** Maximum nesting depth of objects and arrays; the usual limit of JSON parsers. */
export const MAX_DEPTH = 256;
/** Servers' messages are relayed, so they may be as deep as anything in use. */
export const MAX_SERVER_DEPTH = 10_000;
/**
 * Maximum length in bytes of names, numbers and white space between tokens: a stepwise scan cannot stop inside them.
 */
export const MAX_TOKEN_LENGTH: number = 1024 * 1024;

/** What is open at each depth. Shared by all scans that are not in steps: no two of them run at the same time. */
const KINDS = new Uint8Array(MAX_SERVER_DEPTH + 1);

export interface ReaderOptions {
  readonly strict: boolean;
  readonly maxDepth: number;
  /** Whether the bytes are read in steps, between which others may be read. */
  readonly inSteps?: boolean | undefined;
}

/**
 * Skips the values of one JSON text without creating anything for them. Positions are returned; a negative one means a
 * fault, described by `fault`, or that the step has ended.
 */
export class ValueReader {
  readonly #bytes: Buffer;
  readonly #maxDepth: number;
  readonly #kinds: Uint8Array;
  readonly #strings: StringReader;
  #depth = 0;
  /** The depth at which the current value began. */
  #base = 0;
  #at = 0;
  #isInside = false;
  /** Number of values skipped, which a parser would have to create. */
  values = 0;
  fault: Fault = { reason: 'not JSON', isJson: false, offset: 0 };
  /** Where the last name ended, before its closing quote. */
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

  /** Enters the object or array that opens at `at`; returns false if that is too deep. */
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
      if (at - from > MAX_TOKEN_LENGTH) return at; // a token is expected here, so white space is a fault
      at += 1;
    }
  }

  /** Skips one value of any kind, or continues the one in which the last step stopped. */
  skip(from: number, until: number): number {
    if (!this.#isInside) {
      this.#base = this.#depth;
      this.#at = from;
    }
    const end = this.#skip(this.#at, until);
    this.#isInside = end === PAUSED;
    return end;
  }

  /** Skips one value without recursion, or stops once `until` is passed. */
  #skip(from: number, until: number): number {
    const bytes = this.#bytes;
    const base = this.#base;
    let at = from;
    if (this.#strings.isInside) {
      at = this.#checked(this.#strings.resume(until)); // `from` is meaningless then
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

  /** Skips `"key" :` and the space after it. */
  #key(from: number): number {
    if (this.#bytes[from] !== QUOTE) return this.fail('expected a member name in quotes', from);
    return this.valueOf(this.name(from + 1));
  }

  /** Skips a name; `from` is the byte after its opening quote. */
  name(from: number): number {
    const end = this.#checked(this.#strings.end(from, from + MAX_TOKEN_LENGTH));
    this.nameEnd = end - 1;
    if (end !== PAUSED) return end;
    this.#strings.forget();
    return this.refuse(`a member name longer than ${MAX_TOKEN_LENGTH} bytes`, from);
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
    const end = findScalarEnd(this.#bytes, at, MAX_TOKEN_LENGTH);
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

  /** For what may be valid JSON but is not accepted. */
  refuse(reason: string, offset: number): number {
    this.fault = { reason, isJson: true, offset };
    return FAULT;
  }
}

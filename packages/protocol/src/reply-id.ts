import { readJsonString, type Span } from './spans.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './tokens.ts';

/** Members of a message, folded to lower case. */
const KNOWN: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'result', 'error']);
/** Longer names belong to none of them. */
const MAX_NAME_BYTES = 60;
const MAX_ID_BYTES = 64;

/**
 * Finds the id of a response that cannot be read, because it is nested too deep or broken off, so that its call can fail
 * at once. Only strings and nesting are followed, in steps, without a limit of depth.
 */
export class ReplyIdScan {
  readonly #bytes: Buffer;
  readonly #names: string[] = [];
  #at: number;
  #depth = 0;
  #isInString = false;
  /** Whether a member name follows. */
  #isAtName = false;
  #stringStart = 0;
  #id: Span | undefined;
  #idStart = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#at = 0;
  }

  /** Reads about so many bytes; returns true once all are read. */
  step(count: number): boolean {
    const bytes = this.#bytes;
    const until = Math.min(bytes.length, this.#at + count);
    while (this.#at < until) {
      if (this.#isInString) this.#readString(until);
      else this.#readToken(bytes[this.#at] ?? 0);
    }
    return this.#at >= bytes.length;
  }

  /** The id as written. Undefined if this is no response, or readers could take different ids. */
  get idText(): string | undefined {
    const has = (name: string): number => this.#names.filter((one) => one.toLowerCase() === name).length;
    const isReply = has('jsonrpc') === 1 && has('method') === 0 && has('result') + has('error') === 1;
    if (!isReply || has('id') !== 1 || !this.#names.includes('id') || this.#id === undefined)
      return undefined;
    const { start, end } = this.#id;
    if (end - start > MAX_ID_BYTES) return undefined;
    const text = this.#bytes.toString('latin1', start, end).trim();
    return /^(?:"[\x20-\x7e]*"|\d+)$/.test(text) ? text : undefined;
  }

  #readString(until: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < until && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    this.#at = at;
    if (at >= until) return;
    this.#at += 1;
    this.#isInString = false;
    if (this.#depth === 1 && this.#isAtName) this.#name({ start: this.#stringStart, end: at + 1 });
  }

  #name(span: Span): void {
    this.#isAtName = false;
    if (span.end - span.start > MAX_NAME_BYTES) return;
    const name = readJsonString(this.#bytes, span) ?? '';
    if (!KNOWN.has(name.toLowerCase()) || this.#names.length > KNOWN.size) return;
    this.#names.push(name);
    if (name === 'id') this.#idStart = this.#at;
  }

  #readToken(byte: number): void {
    this.#at += 1;
    if (byte === QUOTE) {
      this.#isInString = true;
      this.#stringStart = this.#at - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#depth += 1;
      this.#isAtName = this.#depth === 1 && byte === OPEN_BRACE;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (this.#depth === 1) this.#valueEnds();
      this.#depth -= 1;
    } else if (byte === COMMA && this.#depth === 1) {
      this.#valueEnds();
      this.#isAtName = true;
    } else if (byte === COLON && this.#idStart >= 0 && this.#id === undefined && this.#depth === 1)
      this.#idStart = this.#at;
    else if (this.#depth === 0 && !isSpace(byte)) this.#at = this.#bytes.length; // not an object
  }

  #valueEnds(): void {
    if (this.#idStart < 0) return;
    this.#id ??= { start: this.#idStart, end: this.#at - 1 };
    this.#idStart = -1;
  }
}

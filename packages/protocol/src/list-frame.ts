import { readJsonString, type Span } from './spans.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  isSpace,
} from './tokens.ts';

/** Maximum cursor length in bytes of JSON: all cursors of a list are kept while it is read. */
const MAX_CURSOR_LENGTH = 65_536;
/** Maximum key length inspected: `resourceTemplates` with each character escaped is shorter. */
const MAX_KEY_LENGTH = 128;

export interface ListEntry extends Span {
  /** Maximum number of values it contains, at any depth. */
  readonly values: number;
}

/**
 * Finds the entries of a list in a result, in steps, so that large results do not block the event loop. The bytes must
 * be a JSON object, except that long strings may be unchecked inside.
 */
export class ListFrame {
  /** Whether all bytes were read. */
  isDone = false;
  /** Whether a list was found. */
  hasList = false;
  nextCursor: string | undefined;
  /** A phrase that says why readers may find different lists here. */
  fault: string | undefined;
  readonly #bytes: Buffer;
  readonly #listKey: string;
  #at = 0;
  #depth = 0;
  /** Where the current string opened; negative outside of strings. */
  #stringStart = -1;
  /** The key at depth 1 whose value is being read. */
  #key: string | undefined;
  #valueStart = -1;
  /** Where the current entry begins; negative outside of the list. */
  #entryStart = -1;
  #values = 0;
  readonly #seen = new Set<string>();

  constructor(result: Buffer, listKey: string) {
    this.#bytes = result;
    this.#listKey = listKey;
  }

  /** Reads on for at most `steps` steps; returns the entries that ended. */
  read(steps: number): readonly ListEntry[] {
    const entries: ListEntry[] = [];
    for (let left = steps; left > 0 && !this.isDone; left -= 1) {
      if (this.#at >= this.#bytes.length) this.isDone = true;
      else if (this.#stringStart < 0) this.#token(entries);
      else this.#string();
    }
    return entries;
  }

  #token(entries: ListEntry[]): void {
    const at = this.#at;
    this.#at = at + 1;
    switch (this.#bytes[at]) {
      case QUOTE:
        this.#stringStart = at;
        return;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#open(at);
        return;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#close(at, entries);
        return;
      case COMMA:
        if (this.#depth === 2 && this.#entryStart >= 0) {
          this.#entry(at, entries);
          this.#entryStart = at + 1;
        } else if (this.#entryStart >= 0) this.#values += 1;
        else if (this.#depth === 1) this.#memberEnd(at);
        return;
      case COLON:
        if (this.#depth === 1) this.#valueStart = at + 1;
    }
  }

  #open(at: number): void {
    this.#depth += 1;
    this.#values += 1;
    if (this.#depth !== 2 || this.#key !== this.#listKey || this.#bytes[at] !== OPEN_BRACKET) return;
    this.hasList = true;
    this.#entryStart = at + 1;
    this.#values = 0;
  }

  #close(at: number, entries: ListEntry[]): void {
    if (this.#depth === 2 && this.#entryStart >= 0) {
      this.#entry(at, entries);
      this.#entryStart = -1;
    } else if (this.#depth === 1) this.#memberEnd(at);
    this.#depth -= 1;
    if (this.#depth === 0) this.isDone = true;
  }

  #entry(end: number, entries: ListEntry[]): void {
    const span = trimmed(this.#bytes, { start: this.#entryStart, end });
    if (span.end > span.start) entries.push({ ...span, values: this.#values });
    this.#values = 0;
  }

  /** Reads to the next quote, so a string of any length takes one step unless it contains escaped quotes. */
  #string(): void {
    const bytes = this.#bytes;
    const quote = bytes.indexOf(QUOTE, this.#at);
    this.#at = quote < 0 ? bytes.length : quote + 1;
    if (quote < 0 || isEscaped(bytes, quote, this.#stringStart)) return;
    const start = this.#stringStart;
    this.#stringStart = -1;
    if (this.#depth === 1 && this.#valueStart < 0) this.#keyEnd({ start, end: quote + 1 });
  }

  #keyEnd(span: Span): void {
    const key = span.end - span.start > MAX_KEY_LENGTH ? undefined : readJsonString(this.#bytes, span);
    this.#key = key;
    if (key !== this.#listKey && key !== 'nextCursor') return;
    if (this.#seen.has(key)) this.fault ??= `it holds the key "${key}" twice`;
    this.#seen.add(key);
  }

  #memberEnd(end: number): void {
    if (this.#key === 'nextCursor') {
      const span = trimmed(this.#bytes, { start: this.#valueStart, end });
      if (span.end - span.start > MAX_CURSOR_LENGTH)
        this.fault ??= `its nextCursor is longer than ${MAX_CURSOR_LENGTH} bytes`;
      else this.nextCursor = readJsonString(this.#bytes, span);
    }
    this.#key = undefined;
    this.#valueStart = -1;
  }
}

/** Whether a quote is preceded by an odd number of backslashes; the string opened at `start`. */
function isEscaped(bytes: Buffer, quote: number, start: number): boolean {
  let before = quote - 1;
  while (before > start && bytes[before] === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

function trimmed(bytes: Buffer, { start, end }: Span): Span {
  let [from, to] = [start, end];
  while (from < to && isSpace(bytes[from])) from += 1;
  while (to > from && isSpace(bytes[to - 1])) to -= 1;
  return { start: from, end: to };
}

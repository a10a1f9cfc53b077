import { CollectedBytes } from '../collected-bytes.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface LineHandlers {
  /** One line without its terminator, never empty. */
  line(line: Buffer): void;
  /** A line exceeded the limit and is discarded up to its end. */
  tooLong(): void;
}

/** Cuts a stream of bytes at line feeds. Holds at most `limitBytes` of an unfinished line. */
export class LineSplitter {
  readonly #handlers: LineHandlers;
  readonly #limitBytes: number;
  readonly #pieces = new CollectedBytes();
  #isSkipping = false;

  constructor(limitBytes: number, handlers: LineHandlers) {
    this.#limitBytes = limitBytes;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      if (this.#pieces.length === 0 && !this.#isSkipping) from = afterEmptyLines(chunk, from);
      const end = chunk.indexOf(LINE_FEED, from);
      if (end < 0) break;
      this.#finish(chunk.subarray(from, end));
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  /** The stream has ended; the rest counts as a line. */
  end(): void {
    this.#finish(Buffer.alloc(0));
  }

  #finish(tail: Buffer): void {
    this.#keep(tail);
    if (this.#isSkipping || this.#pieces.length === 0) {
      this.#isSkipping = false;
      return;
    }
    const line = this.#pieces.take();
    const whole = line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
    if (whole.length > 0) this.#handlers.line(whole);
  }

  #keep(piece: Buffer): void {
    if (this.#isSkipping || piece.length === 0) return;
    this.#pieces.add(piece);
    if (this.#pieces.length <= this.#limitBytes) return;
    this.#pieces.clear();
    this.#isSkipping = true;
    this.#handlers.tooLong();
  }
}

/** Skips empty lines without allocating a buffer for each; a stream may contain very many. */
function afterEmptyLines(chunk: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const end = chunk[at] === CARRIAGE_RETURN ? at + 1 : at;
    if (chunk[end] !== LINE_FEED) return at;
    at = end + 1;
  }
}

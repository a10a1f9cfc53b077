import { toMebibytes } from '@assay-mcp/functions/function-messages';
import type { Log } from '../../../gateway/ports/log.ts';
import type { Child } from '@assay-mcp/kit/platform/child';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';

const LINE_LIMIT_BYTES = 16 * 1024;
const LINES_PER_SPAN = 100;
const SPAN_MS = 1_000;

/** Logs what a module prints, at most `LINES_PER_SPAN` lines a second. */
export class OutputLog {
  readonly #log: Log;
  readonly #module: string;
  readonly #lines: LineSplitter;
  #spanStartMs = -Infinity;
  #inSpan = 0;

  constructor(log: Log, module: string) {
    this.#log = log;
    this.#module = module;
    this.#lines = new LineSplitter(LINE_LIMIT_BYTES, {
      line: (line) => this.line(line),
      tooLong: () => this.line(Buffer.from('(a line that is too long)')),
    });
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  line(line: Buffer): void {
    const nowMs = performance.now();
    if (nowMs - this.#spanStartMs > SPAN_MS) {
      this.#reportDropped();
      this.#spanStartMs = nowMs;
      this.#inSpan = 0;
    }
    this.#inSpan += 1;
    if (this.#inSpan > LINES_PER_SPAN) return;
    this.#log.info('function output', {
      module: this.#module,
      text: line.subarray(0, LINE_LIMIT_BYTES).toString(),
    });
  }

  /** Call at the end of the output. */
  end(): void {
    this.#reportDropped();
    this.#inSpan = 0;
  }

  #reportDropped(): void {
    const lines = this.#inSpan - LINES_PER_SPAN;
    if (lines > 0)
      this.#log.info('a function writes too much output: lines are dropped', { module: this.#module, lines });
  }
}

/** A process that leaves bytes unread for this long counts as not reading. */
const PATIENCE_MS = 1_000;
/** Maximum unread bytes of a process that does not read. */
const MAX_BYTES = 1024 * 1024;

/** Even when escaped as a string within a message, they fit into one line of the runner. */
const ARGUMENTS_LIMIT_BYTES = 8 * 1024 * 1024;

/**
 * Input that a process has not read. All modules share one request queue: a process that does not read blocks it for at
 * most a second; from then on calls that exceed its buffer are refused.
 */
export class UnreadInput {
  readonly #child: Child;
  readonly #onTaken: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isStalled = false;

  constructor(child: Child, onTaken: () => void) {
    this.#child = child;
    this.#onTaken = onTaken;
    child.onDrain(() => this.end());
    void child.ended.then(() => this.end());
  }

  /** Unread bytes that other calls should wait for. */
  get bytes(): number {
    return this.#isStalled ? 0 : this.#child.unreadBytes;
  }

  /** Why these arguments are not sent to the module `name`, as a text for the model. Undefined if they may be sent. */
  refusalOf(args: string, name: string): string | undefined {
    const bytes = Buffer.byteLength(args);
    if (bytes > ARGUMENTS_LIMIT_BYTES)
      return `The arguments are too large: they are ${toMebibytes(bytes)} MiB of JSON, and the functions in ${name} take at most ${toMebibytes(ARGUMENTS_LIMIT_BYTES)} MiB.`;
    return this.#isStalled && this.#child.unreadBytes + bytes > MAX_BYTES
      ? `The functions in ${name} are busy: they have not read the arguments of earlier calls yet. Try again later.`
      : undefined;
  }

  /** Call after each write. */
  written(): void {
    if (this.#timer !== undefined || this.#child.unreadBytes === 0) return;
    this.#timer = setTimeout(() => {
      this.#isStalled = true;
      this.#onTaken();
    }, PATIENCE_MS).unref();
  }

  /** Called when all input was read or the process has ended. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isStalled = false;
    this.#onTaken();
  }
}

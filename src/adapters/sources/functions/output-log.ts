import type { Log } from '../../../gateway/ports/link.ts';
import { LineSplitter } from '../../../platform/lines.ts';

const LINE_LIMIT_BYTES = 16 * 1024;
const LINES_PER_SPAN = 100;
const SPAN_MS = 1_000;

/** Puts what a module prints into the log, so many lines a second at most. */
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
      this.#tellLeftOut();
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

  /** Nothing more comes. */
  end(): void {
    this.#tellLeftOut();
    this.#inSpan = 0;
  }

  #tellLeftOut(): void {
    const lines = this.#inSpan - LINES_PER_SPAN;
    if (lines > 0)
      this.#log.info('function output is too much: lines are left out', { module: this.#module, lines });
  }
}

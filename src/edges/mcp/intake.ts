import type { Readable, Writable } from 'node:stream';

export interface IntakeOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Most bytes of a client that are kept while it does not read what it was answered. */
  readonly mostBytes: number;
}

/**
 * A client that does not read gets no new work done until it does. What it sends meanwhile is read but waits, within
 * bounds, so that the end of its stream is seen.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #process: (chunk: Buffer) => void;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  constructor(options: IntakeOptions, process: (chunk: Buffer) => void) {
    this.#options = options;
    this.#process = process;
    options.output.on('drain', () => this.flush());
  }

  take(chunk: Buffer): void {
    const { input, output, mostBytes } = this.#options;
    if (!output.writableNeedDrain && this.#waiting.length === 0) {
      this.#process(chunk);
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > mostBytes) input.pause();
  }

  /** Does what waits, now that the client reads again, or has closed its side. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const chunk of waiting) this.#process(chunk);
    this.#options.input.resume();
  }
}

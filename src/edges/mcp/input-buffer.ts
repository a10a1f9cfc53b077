import type { Readable, Writable } from 'node:stream';
import type { InOrder } from '../../platform/in-order.ts';

export interface InputBufferOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Most bytes of a client that are kept while it does not read what it was answered. */
  readonly mostBytes: number;
}

/**
 * A client that does not read gets no new work done until it does. What it sends meanwhile is read but waits, within
 * bounds, so that the end of its stream is seen.
 */
export class InputBuffer {
  readonly #options: InputBufferOptions;
  readonly #process: (chunk: Buffer) => void;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isHeld = false;

  constructor(options: InputBufferOptions, process: (chunk: Buffer) => void) {
    this.#options = options;
    this.#process = process;
    options.output.on('drain', () => this.flush());
  }

  take(chunk: Buffer): void {
    const { input, output, mostBytes } = this.#options;
    if (!this.#isHeld && !output.writableNeedDrain && this.#waiting.length === 0) {
      this.#process(chunk);
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > mostBytes) input.pause();
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whoever does the work has enough of it for now, or has done it. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld && !this.#options.output.writableNeedDrain) this.flush();
  }

  /** Does what waits, now that the client reads again, or has closed its side. */
  flush(): void {
    if (this.#isHeld) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const [index, chunk] of waiting.entries()) {
      if (this.#isHeldNow()) {
        this.#waiting = waiting.slice(index);
        this.#waitingBytes = this.#waiting.reduce((sum, { length }) => sum + length, 0);
        return;
      }
      this.#process(chunk);
    }
    this.#options.input.resume();
  }

  #isHeldNow(): boolean {
    return this.#isHeld;
  }
}

/** Resolves when all that the client sent is heard; `onTaken` is called when all of it was taken, and may bring some more. */
export async function allHeard(
  intake: InputBuffer,
  messages: InOrder,
  onTaken: () => unknown,
): Promise<void> {
  const idle = async (): Promise<void> => {
    do {
      intake.flush();
      await new Promise<void>((resolve) => messages.whenIdle(resolve));
    } while (!intake.isEmpty || !messages.isIdle);
  };
  await idle();
  onTaken();
  await idle();
}

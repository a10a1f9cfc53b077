import type { Readable, Writable } from 'node:stream';
import { guardCallback, type Peer } from '@assay-mcp/kit/platform/guarded';
import type { InOrder } from '@assay-mcp/kit/platform/in-order';

export interface InputBufferOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** For faults in handling the input. */
  readonly peer: Peer;
  /** Maximum bytes to buffer while the client does not read its responses. */
  readonly maxBytes: number;
}

/**
 * Delays work for a client that does not read. Its input is still read and buffered, up to a limit, so that the end of
 * the stream is noticed.
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
    const { input, output, peer } = options;
    input.on(
      'data',
      guardCallback(peer, (chunk: Buffer) => this.#take(chunk)),
    );
    output.on(
      'drain',
      guardCallback(peer, () => this.flush()),
    );
  }

  #take(chunk: Buffer): void {
    const { input, output, maxBytes } = this.#options;
    if (!this.#isHeld && !output.writableNeedDrain && this.#waiting.length === 0) {
      this.#process(chunk);
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > maxBytes) input.pause();
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Holds back further input while the consumer is overloaded, or releases it. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld && !this.#options.output.writableNeedDrain) this.flush();
  }

  /** Processes the buffered input when the client reads again or has closed its side. */
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

/** Resolves when all input is processed. `onTaken` is called after a first pass and may add more input. */
export async function waitUntilProcessed(
  inputBuffer: InputBuffer,
  messages: InOrder,
  onTaken: () => unknown,
): Promise<void> {
  const idle = async (): Promise<void> => {
    do {
      inputBuffer.flush();
      await new Promise<void>((resolve) => messages.whenIdle(resolve));
    } while (!inputBuffer.isEmpty || !messages.isIdle);
  };
  await idle();
  onTaken();
  await idle();
}

import type { Writable } from 'node:stream';
import type { Log } from '../../gateway/ports.ts';
import { onOneLine } from '../../protocol/splice.ts';

export interface StdioOutputOptions {
  readonly output: Writable;
  /** Most bytes that wait for a client which does not read. */
  readonly mostUnreadBytes: number;
  readonly log: Log;
}

const LINE_FEED: Buffer = Buffer.from('\n');

/** What is said to the client at the other end of a line: one message, one line. */
export class StdioOutput {
  readonly #options: StdioOutputOptions;
  #hasMissed = false;

  constructor(options: StdioOutputOptions) {
    this.#options = options;
  }

  /** Sends what is no answer. A client that does not read misses it: nothing else would bound how much of it waits. */
  readonly say = (bytes: Buffer): boolean => {
    const { output, mostUnreadBytes, log } = this.#options;
    if (output.writableLength < mostUnreadBytes) {
      this.send([bytes]);
      return true;
    }
    if (!this.#hasMissed) log.warn('notifications to the client are dropped, as it does not read');
    this.#hasMissed = true;
    return false;
  };

  send(pieces: readonly Buffer[]): void {
    const { output } = this.#options;
    if (output.destroyed || output.writableEnded) return;
    output.cork();
    for (const piece of pieces) output.write(onOneLine(piece));
    output.write(LINE_FEED);
    process.nextTick(() => output.uncork());
  }

  /** Resolves when the client has taken all. */
  flushed(): Promise<void> {
    const { output } = this.#options;
    if (output.destroyed) return Promise.resolve();
    return new Promise((resolve) => output.write('', () => resolve()));
  }
}

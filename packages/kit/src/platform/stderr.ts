import { writeSync } from 'node:fs';
import { computeBackoffMs } from '../backoff.ts';

/** Maximum number of unread bytes; lines beyond that are dropped and counted. */
export const MAX_WAITING_BYTES: number = 1024 * 1024;
const FIRST_RETRY_MS = 1;
const MAX_RETRY_MS = 100;
/** Time in ms to wait at exit for a reader that does not read. */
const LAST_WAIT_MS = 500;
const LAST_RETRY_MS = 5;

export interface StderrOptions {
  /** Formats the line that reports how many were dropped. */
  readonly onDropped: (count: number) => string;
  /** Writes to the file descriptor and returns the number of bytes written; throws EAGAIN if it would block. */
  readonly take?: (bytes: Buffer) => number;
}

/**
 * Writes lines to stderr without ever blocking the process, and delays its exit only briefly. A plain stream would keep
 * the process alive if its parent does not read; a blocking one would stop it at once.
 */
export class Stderr {
  readonly #options: StderrOptions;
  readonly #take: (bytes: Buffer) => number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #retry: NodeJS.Timeout | undefined;
  /** Number of retries in a row that wrote nothing. */
  #vain = 0;
  #isClosed = false;

  constructor(options: StderrOptions) {
    this.#options = options;
    // Node makes a pipe non-blocking when this getter opens its stream; otherwise writeSync would block.
    const { fd } = process.stderr;
    this.#take = options.take ?? ((bytes) => writeSync(fd, bytes));
    process.on('exit', () => this.#finish());
  }

  write(line: string): void {
    if (this.#isClosed) return;
    const bytes = Buffer.from(line);
    // Once lines were dropped, there must be room for many, so that the loss is reported even if lines keep coming.
    const limit = this.#dropped > 0 ? MAX_WAITING_BYTES / 2 : MAX_WAITING_BYTES;
    if (this.#waitingBytes + bytes.length > limit) {
      this.#dropped += 1;
      return;
    }
    this.#reportDropped();
    this.#wait(bytes);
    if (this.#retry === undefined) this.#flow();
  }

  #wait(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #flow(): void {
    this.#retry = undefined;
    const isFlowing = this.#push();
    if (this.#waiting.length === 0) {
      this.#vain = 0;
      return;
    }
    this.#vain = isFlowing ? 0 : this.#vain + 1;
    const waitMs = computeBackoffMs(this.#vain + 1, { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS });
    this.#retry = setTimeout(() => this.#flow(), waitMs).unref();
  }

  /** Writes as much as possible now; returns whether anything was written. */
  #push(): boolean {
    let isFlowing = false;
    try {
      for (;;) {
        const bytes = this.#nextBytes();
        if (bytes === undefined) return isFlowing;
        const taken = this.#take(bytes);
        isFlowing ||= taken > 0;
        this.#waitingBytes -= taken;
        if (taken < bytes.length) this.#waiting[0] = bytes.subarray(taken);
        else this.#waiting.shift();
      }
    } catch (error) {
      // The reader is gone.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') this.#close();
      return isFlowing;
    }
  }

  /** Dropped lines are reported after the lines that were queued before them. */
  #nextBytes(): Buffer | undefined {
    if (this.#waiting.length === 0) this.#reportDropped();
    return this.#waiting[0];
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const count = this.#dropped;
    this.#dropped = 0;
    this.#wait(Buffer.from(this.#options.onDropped(count)));
  }

  #close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#dropped = 0;
  }

  /** Runs at exit, where blocking is fine. The deadline restarts whenever something is written. */
  #finish(): void {
    let deadlineMs = performance.now() + LAST_WAIT_MS;
    while (this.#waiting.length > 0 && performance.now() < deadlineMs) {
      if (this.#push()) deadlineMs = performance.now() + LAST_WAIT_MS;
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_RETRY_MS);
    }
    this.#close();
  }
}

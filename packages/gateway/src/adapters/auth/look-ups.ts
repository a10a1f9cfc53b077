import { pause as sleep } from '@assay-mcp/kit/platform/pause';

const INTERVAL_MS = 100;
/** After a lookup, the next one is delayed by this multiple of its duration. */
const REST_SHARE = 10;

/**
 * Reads on demand. Callers that wait for a read share it, and reads are spaced out, so that a flood of invalid credentials
 * takes at most a tenth of the store's time.
 */
export class LookUps {
  readonly #read: () => Promise<void>;
  #next: Promise<void> | undefined;
  #running: Promise<void> = Promise.resolve();
  #notBeforeMs = 0;

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Resolves after a read that started after this call. */
  next(): Promise<void> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<void> {
    await this.#running;
    const waitMs = this.#notBeforeMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    this.#next = undefined;
    const startMs = performance.now();
    this.#running = this.#read();
    await this.#running;
    const endMs = performance.now();
    this.#notBeforeMs = endMs + Math.max(INTERVAL_MS, REST_SHARE * (endMs - startMs));
  }
}

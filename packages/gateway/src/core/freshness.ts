import type { Refusal } from './refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

/**
 * How long in ms what was last read from a database decides on access while that database cannot be read. Long enough
 * for a restart of the database.
 */
export const MAX_STALE_MS = 30_000;

/** Seconds after which a client that was refused may retry. */
const RETRY_SECONDS = 5;

export const STALE: Refusal = { code: 'STORE_STALE', waitSeconds: RETRY_SECONDS };

/** Whether a request was refused only because the store is away for now, so that it may succeed later. */
export function isStoreAway(refusal: Refusal): boolean {
  if (refusal.code === 'STORE_UNAVAILABLE') return refusal.isLasting !== true;
  return refusal.code === 'STORE_STALE' || refusal.code === 'WRITE_UNCONFIRMED';
}

/** Whether a copy of data that other processes change is recent enough to decide on access. */
export class Freshness {
  readonly #heardMs: (() => number) | undefined;
  readonly #nowMs: () => number;
  /** When the last successful read began. */
  #readMs = -Infinity;
  /** When the first change was announced that no read has covered yet. */
  #dueMs: number | undefined;
  /** The same, for changes announced during the current read. */
  #nextDueMs: number | undefined;
  #isReading = false;

  /**
   * `heardMs` returns the monotonic time up to which all changes were announced. Without it, announcements cannot get
   * lost, and a copy stays fresh.
   */
  constructor(heardMs: (() => number) | undefined, nowMs: () => number = () => performance.now()) {
    this.#heardMs = heardMs;
    this.#nowMs = nowMs;
  }

  get isFresh(): boolean {
    if (this.#heardMs === undefined) return true;
    const currentUntilMs = this.#dueMs ?? this.#nextDueMs ?? this.#heardMs();
    return this.#nowMs() - Math.max(this.#readMs, currentUntilMs) <= MAX_STALE_MS;
  }

  /** Call on each announced change. */
  announced(): void {
    if (this.#isReading) this.#nextDueMs ??= this.#nowMs();
    else this.#dueMs ??= this.#nowMs();
  }

  /** Runs a read of the data. Reads must not overlap. */
  async during<T>(read: () => Promise<Result<T, Refusal>>): Promise<Result<T, Refusal>> {
    const startMs = this.#nowMs();
    this.#isReading = true;
    try {
      const result = await read();
      if (result.ok) {
        this.#readMs = startMs;
        this.#dueMs = undefined;
      }
      return result;
    } finally {
      this.#isReading = false;
      this.#dueMs ??= this.#nextDueMs;
      this.#nextDueMs = undefined;
    }
  }
}

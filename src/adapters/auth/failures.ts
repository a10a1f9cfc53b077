import { RateLimiterMemory } from 'rate-limiter-flexible';
import { addressBlock } from './address-block.ts';

export interface FailuresOptions {
  /** Failures within a window after which no more tokens are looked at. */
  readonly most: number;
  readonly windowMs: number;
}

/** Who failed. */
export interface Failing {
  readonly address: string;
  /** Id of the token that was claimed, where there is such a token; all other guesses from an address count as one. */
  readonly id: string | undefined;
}

interface Window {
  readonly endsMs: number;
  readonly isClosed: boolean;
}

/** Most keys that are counted apart. Beyond that the addresses which are new share one count for each token. */
const MOST_KEYS = 10_000;

/**
 * Counts invalid tokens. The library counts, and answers a moment later by a promise; its last answer for each key is
 * kept here, so that asking takes no waiting. Both forget a key when its window ends, and hold so many keys at most.
 */
export class Failures {
  readonly #limiter: RateLimiterMemory;
  /** In the order in which they end, as all are of one length. */
  readonly #windows = new Map<string, Window>();

  constructor({ most, windowMs }: FailuresOptions) {
    this.#limiter = new RateLimiterMemory({ points: most, duration: windowMs / 1000 });
  }

  /** How long in ms no token is looked at; undefined: it is looked at. */
  waitMs(failing: Failing, nowMs: number): number | undefined {
    if (this.#windows.size === 0) return undefined;
    const window = this.#windows.get(this.#keyOf(failing));
    return window?.isClosed === true && window.endsMs > nowMs ? window.endsMs - nowMs : undefined;
  }

  note(failing: Failing, nowMs: number): void {
    this.#forget(nowMs);
    const key = this.#keyOf(failing);
    void this.#limiter.penalty(key).then(({ remainingPoints, msBeforeNext }) => {
      this.#windows.set(key, { endsMs: nowMs + msBeforeNext, isClosed: remainingPoints === 0 });
    });
  }

  #keyOf({ address, id = '' }: Failing): string {
    const key = `${id} ${addressBlock(address)}`;
    return this.#windows.size < MOST_KEYS || this.#windows.has(key) ? key : `${id} elsewhere`;
  }

  #forget(nowMs: number): void {
    for (const [key, { endsMs }] of this.#windows) {
      if (endsMs > nowMs) return;
      this.#windows.delete(key);
    }
  }
}

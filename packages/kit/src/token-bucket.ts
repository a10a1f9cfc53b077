export interface BucketOptions {
  /** Average rate. */
  readonly perSecond: number;
  /** The largest burst. */
  readonly capacity: number;
  readonly nowMs: number;
}

/** Limits an average rate and allows bursts. It starts full. */
export class TokenBucket {
  readonly capacity: number;
  readonly #perSecond: number;
  #tokens: number;
  #filledMs: number;

  constructor({ perSecond, capacity, nowMs }: BucketOptions) {
    this.capacity = capacity;
    this.#perSecond = perSecond;
    this.#tokens = capacity;
    this.#filledMs = nowMs;
  }

  /** Takes `cost` tokens, or none if there are fewer. A clock that is set back refills nothing. */
  take(nowMs: number, cost = 1): boolean {
    const passedMs = Math.max(0, nowMs - this.#filledMs);
    this.#tokens = Math.min(this.capacity, this.#tokens + (passedMs * this.#perSecond) / 1_000);
    this.#filledMs = nowMs;
    if (this.#tokens < cost) return false;
    this.#tokens -= cost;
    return true;
  }
}

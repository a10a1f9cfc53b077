import { isStoreAway } from '../../core/freshness.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

export interface StoreRetryOptions {
  /** How long in ms the store may be away. */
  readonly waitMs: number;
  readonly retryMs: number;
}

/** Less than the 60 s for which most proxies wait for a response. */
export const STORE_RETRY: StoreRetryOptions = { waitMs: 50_000, retryMs: 1_000 };

/** Repeats what the store was away for, for a limited number of callers at a time. */
export class StoreRetry {
  readonly #options: StoreRetryOptions & { readonly perSubject: number; readonly total: number };
  /** Number of those that wait, by subject. */
  readonly #waiting = new Map<string, number>();
  #total = 0;

  constructor(options: StoreRetryOptions & { readonly perSubject: number; readonly total: number }) {
    this.#options = options;
  }

  /** The first result that is not about an absent store; or the last one, if too many wait or it takes too long. */
  async run<T>(
    subject: string,
    attempt: () => Promise<Result<T, Refusal>>,
    isGone: () => boolean = () => false,
  ): Promise<Result<T, Refusal>> {
    const { waitMs, retryMs, perSubject, total } = this.#options;
    const untilMs = performance.now() + waitMs;
    let result = await attempt();
    if (result.ok || !isStoreAway(result.error)) return result;
    const waiting = this.#waiting.get(subject) ?? 0;
    if (waiting >= perSubject || this.#total >= total) return result;
    this.#waiting.set(subject, waiting + 1);
    this.#total += 1;
    try {
      while (!result.ok && isStoreAway(result.error) && performance.now() < untilMs && !isGone()) {
        await new Promise<void>((resolve) => void setTimeout(resolve, retryMs).unref());
        result = await attempt();
      }
      return result;
    } finally {
      this.#total -= 1;
      const left = (this.#waiting.get(subject) ?? 1) - 1;
      if (left > 0) this.#waiting.set(subject, left);
      else this.#waiting.delete(subject);
    }
  }
}

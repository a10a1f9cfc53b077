/** Thrown by work that was cancelled. Nobody waits for its result. */
export class Cancelled extends Error {
  constructor() {
    super('the call was cancelled');
  }
}

/**
 * Signals once that the result is no longer wanted. Used on the path of every call instead of an AbortSignal, whose
 * listeners keep what they refer to alive long after the call (docs/adr/0004).
 */
export class Cancellation {
  #isCancelled = false;
  /** The reason passed to `cancel`. */
  reason: string | undefined;
  /** Kept out of the array: nearly all calls have at most one listener. */
  #listener: (() => void) | undefined;
  #others: (() => void)[] | undefined;

  /** A cancellation for work that is done once, such as reading a document: the signal keeps its listener. */
  static following(signal: AbortSignal): Cancellation {
    const cancellation = new Cancellation();
    if (signal.aborted) cancellation.cancel();
    else signal.addEventListener('abort', () => cancellation.cancel(), { once: true });
    return cancellation;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(reason?: string): void {
    if (this.#isCancelled) return;
    this.reason = reason;
    this.#isCancelled = true;
    const [listener, others] = [this.#listener, this.#others];
    this.#listener = undefined;
    this.#others = undefined;
    listener?.();
    others?.forEach((other) => other());
  }

  /** Calls the listener once on cancellation, unless it is removed first. Never called if already cancelled. */
  addListener(listener: () => void): void {
    if (this.#isCancelled) return;
    if (this.#listener === undefined) this.#listener = listener;
    else (this.#others ??= []).push(listener);
  }

  /** Does some work, with a signal that is aborted on cancellation and after a time limit in ms. */
  within<T>(limitMs: number, work: (giveUp: AbortSignal) => Promise<T>): Promise<T> {
    const cancelled = new AbortController();
    const giveUp = AbortSignal.any([AbortSignal.timeout(limitMs), cancelled.signal]);
    return this.during(() => cancelled.abort(), work(giveUp));
  }

  /** Calls the listener if cancelled before the promise settles, or immediately if already cancelled. */
  async during<T>(listener: () => void, pending: Promise<T>): Promise<T> {
    if (this.#isCancelled) listener();
    else this.addListener(listener);
    try {
      return await pending;
    } finally {
      this.removeListener(listener);
    }
  }

  removeListener(listener: () => void): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others = this.#others?.filter((other) => other !== listener);
  }
}

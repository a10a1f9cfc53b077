/**
 * Signals once that the answer is no longer wanted. It is on the path of every call in place of an AbortSignal, whose
 * listeners keep what they refer to alive long after the call (docs/adr/0004).
 */
export class Cancellation {
  #isCancelled = false;
  /** As given by whoever cancelled. */
  reason: string | undefined;
  /** Nearly all calls have one listener at a time. */
  #listener: (() => void) | undefined;
  #others: (() => void)[] | undefined;

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

  /** Calls the listener once when it is cancelled, unless it was removed; not if it is cancelled already. */
  addListener(listener: () => void): void {
    if (this.#isCancelled) return;
    if (this.#listener === undefined) this.#listener = listener;
    else (this.#others ??= []).push(listener);
  }

  /** Calls the listener if it is cancelled before the promise settles, and at once if it is cancelled already. */
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

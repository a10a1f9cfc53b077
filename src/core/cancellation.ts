/**
 * Says once that nobody waits for an answer any more. It stands on the path of every call in the place of an AbortSignal,
 * whose listeners keep what they refer to alive long after the call (docs/adr/0004).
 */
export class Cancellation {
  #isCancelled = false;
  /** In the words of who cancelled. */
  reason: string | undefined;
  #listener: (() => void) | undefined;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(reason?: string): void {
    if (this.#isCancelled) return;
    this.reason = reason;
    this.#isCancelled = true;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.();
  }

  /** Whoever does the work at the moment listens; who listened before hears nothing any more. Undefined: nobody. */
  listen(listener: (() => void) | undefined): void {
    this.#listener = listener;
  }
}

import type { Cancellation } from '../../core/cancellation.ts';
import { Slots } from '../../core/slots.ts';
import { atMost } from '../../platform/waiting.ts';

/** In the words that a server gets to hear. */
const GIVEN_UP = 'Assay is shutting down';
/** How long in ms requests have to be refused that were given up. */
const REFUSE_MS = 1_000;

/** The requests that a door has under way, so that it can end when they are answered, or refuse them. */
export class UnderWay {
  readonly #requests = new Slots<Cancellation>();
  #isStopping = false;
  #onNone: (() => void) | undefined;

  /** Whether no new request is taken any more. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Gives what `end` wants to have; undefined where so many are under way that this one is not waited for. */
  begin(cancellation: Cancellation): number | undefined {
    return this.#requests.add(cancellation);
  }

  end(place: number | undefined): void {
    if (place !== undefined) this.#requests.delete(place);
    if (this.#onNone !== undefined && this.#requests.size === 0) this.#onNone();
  }

  /** Whether a request was cancelled because the time of the door is over, and not by its client. */
  isGivenUp({ isCancelled, reason }: Cancellation): boolean {
    return isCancelled && reason === GIVEN_UP;
  }

  /** From now on no request is taken. Those under way have so many ms to be answered, or until the signal; then they are given up. */
  async drain(limitMs: number, signal?: AbortSignal): Promise<void> {
    this.#isStopping = true;
    if (this.#requests.size === 0) return;
    const none = new Promise<void>((resolve) => {
      this.#onNone = resolve;
      signal?.addEventListener('abort', () => resolve());
    });
    if (signal?.aborted !== true) await atMost(none, limitMs);
    if (this.#requests.size === 0) return;
    for (const cancellation of this.#requests.all()) cancellation.cancel(GIVEN_UP);
    await atMost(new Promise<void>((resolve) => (this.#onNone = resolve)), REFUSE_MS);
  }
}

import { Cancellation } from '../../core/cancellation.ts';
import { Slots } from '../../core/slots.ts';
import { atMost } from '../../platform/turns.ts';

/** The requests of one client that are not answered yet, by id as written, so that it can cancel them. */
export class InFlight {
  readonly #open = new Map<string, Cancellation>();

  get size(): number {
    return this.#open.size;
  }

  /** Undefined when a request with this id is under way already, which the protocol forbids. */
  begin(idText: string): Cancellation | undefined {
    const key = keyOf(idText);
    if (this.#open.has(key)) return undefined;
    const cancellation = new Cancellation();
    this.#open.set(key, cancellation);
    return cancellation;
  }

  end(idText: string): void {
    this.#open.delete(keyOf(idText));
  }

  /** A request that is unknown, or was answered already, is ignored (2025-11-25, basic/utilities/cancellation#error-handling). */
  cancel(idText: string, reason: string | undefined): void {
    this.#open.get(keyOf(idText))?.cancel(reason);
  }

  cancelAll(): void {
    for (const cancellation of this.#open.values()) cancellation.cancel();
  }
}

/** The same for all ways to write one id; `1` and `"1"` stay two. */
function keyOf(idText: string): string {
  if (!idText.includes('\\')) return idText;
  try {
    return JSON.stringify(JSON.parse(idText));
  } catch {
    return idText; // no request has such an id
  }
}

/** In the words that a server gets to hear. */
const GIVEN_UP = 'Assay is shutting down';
/** How long in ms requests have to be refused that were given up. */
const REFUSE_MS = 1_000;

/** The requests of a server in flight, so that it can end when they are answered, or refuse them. */
export class OpenRequests {
  readonly #requests = new Slots<Cancellation>();
  readonly #givenUp = new WeakSet<Cancellation>();
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
  isGivenUp(cancellation: Cancellation): boolean {
    return this.#givenUp.has(cancellation);
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
    for (const cancellation of this.#requests.all()) {
      if (!cancellation.isCancelled) this.#givenUp.add(cancellation);
      cancellation.cancel(GIVEN_UP);
    }
    await atMost(new Promise<void>((resolve) => (this.#onNone = resolve)), REFUSE_MS);
  }
}

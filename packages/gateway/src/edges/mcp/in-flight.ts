import { Cancellation } from '@assay-mcp/kit/cancellation';
import { Slots } from '../../core/slots.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';

/** The unanswered requests of one client, by id, so that it can cancel them. */
export class InFlight {
  readonly #open = new Map<string, Cancellation>();

  get size(): number {
    return this.#open.size;
  }

  /** Undefined if a request with this id is already in progress, which the protocol forbids. */
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

  /** Unknown and answered requests are ignored (2025-11-25, basic/utilities/cancellation#error-handling). */
  cancel(idText: string, reason: string | undefined): void {
    this.#open.get(keyOf(idText))?.cancel(reason);
  }

  cancelAll(): void {
    for (const cancellation of this.#open.values()) cancellation.cancel();
  }
}

/** Normalizes the spelling of an id; `1` and `"1"` remain distinct. */
function keyOf(idText: string): string {
  if (!idText.includes('\\')) return idText;
  try {
    return JSON.stringify(JSON.parse(idText));
  } catch {
    return idText; // Not a valid request id.
  }
}

/** The cancellation reason sent to servers. */
const GIVEN_UP = 'Assay is shutting down';
/** Time in ms to refuse abandoned requests. */
const REFUSE_MS = 1_000;

/** All open requests of this server. On shutdown it waits for them, or abandons them. */
export class OpenRequests {
  readonly #requests = new Slots<Cancellation>();
  readonly #givenUp = new WeakSet<Cancellation>();
  #isStopping = false;
  #onNone: (() => void) | undefined;

  /** Whether new requests are refused. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  get size(): number {
    return this.#requests.size;
  }

  /** Returns the argument for `end`. Undefined if too many requests are open; shutdown does not wait for this one. */
  begin(cancellation: Cancellation): number | undefined {
    return this.#requests.add(cancellation);
  }

  end(id: number | undefined): void {
    if (id !== undefined) this.#requests.delete(id);
    if (this.#onNone !== undefined && this.#requests.size === 0) this.#onNone();
  }

  /** Whether a request was cancelled by the shutdown and not by its client. */
  isGivenUp(cancellation: Cancellation): boolean {
    return this.#givenUp.has(cancellation);
  }

  /**
   * Refuses new requests from now on. Open ones may finish for `limitMs` or until the signal; then they are cancelled.
   */
  async drain(limitMs: number, signal?: AbortSignal): Promise<void> {
    this.#isStopping = true;
    if (this.#requests.size === 0) return;
    const none = new Promise<void>((resolve) => {
      this.#onNone = resolve;
      signal?.addEventListener('abort', () => resolve());
    });
    if (signal?.aborted !== true) await waitAtMost(none, limitMs);
    if (this.#requests.size === 0) return;
    for (const cancellation of this.#requests.all()) {
      if (!cancellation.isCancelled) this.#givenUp.add(cancellation);
      cancellation.cancel(GIVEN_UP);
    }
    await waitAtMost(new Promise<void>((resolve) => (this.#onNone = resolve)), REFUSE_MS);
  }
}

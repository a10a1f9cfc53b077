import { Cancellation } from '../../core/cancellation.ts';

/** The requests of one client that are not answered yet, by id as written, so that it can cancel them. */
export class InFlight {
  readonly #open = new Map<string, Cancellation>();

  get size(): number {
    return this.#open.size;
  }

  /** Undefined when a request with this id is under way already, which the protocol forbids. */
  begin(idText: string): Cancellation | undefined {
    if (this.#open.has(idText)) return undefined;
    const cancellation = new Cancellation();
    this.#open.set(idText, cancellation);
    return cancellation;
  }

  end(idText: string): void {
    this.#open.delete(idText);
  }

  /** A request that is unknown, or was answered already, is ignored (2025-11-25, basic/utilities/cancellation#error-handling). */
  cancel(idText: string, reason: string | undefined): void {
    this.#open.get(idText)?.cancel(reason);
  }

  cancelAll(): void {
    for (const cancellation of this.#open.values()) cancellation.cancel();
  }
}

import { Cancellation } from '../../core/cancellation.ts';

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

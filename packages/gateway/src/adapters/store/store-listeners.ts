import { Listeners } from '../../core/listeners.ts';
import type { StorePart } from '../../gateway/ports/store.ts';

/** All parts of a store, reported when it is unknown which ones changed. */
export const ALL_PARTS: Readonly<Record<StorePart, true>> = {
  tokens: true,
  sessions: true,
  keys: true,
  credentials: true,
  labels: true,
  session_toolsets: true,
  stored_results: true,
  legacy_sessions: true,
  session_answers: true,
  records: true,
  audit: true,
  calls: true,
  approvals: true,
};

export function isPart(text: string | undefined): text is StorePart {
  return text !== undefined && Object.hasOwn(ALL_PARTS, text);
}

/** Change listeners; calls `first` when the first one is added and `none` when the last one is removed. */
export class StoreListeners {
  readonly #listeners = new Listeners<[readonly StorePart[], string?]>();
  #isOver = false;
  readonly #on: { first(): void; none(): void };

  constructor(on: { first(): void; none(): void }) {
    this.#on = on;
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Returns a function that unsubscribes. */
  add(listener: (parts: readonly StorePart[], key?: string) => void): () => void {
    if (this.#isOver) return () => undefined;
    const remove = this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#on.first();
    return () => {
      const before = this.#listeners.size;
      remove();
      if (before > 0 && this.#listeners.size === 0) this.#on.none();
    };
  }

  notify(parts: readonly StorePart[], key?: string): void {
    this.#listeners.notify(parts, key);
  }

  notifyAll(): void {
    this.notify(Object.keys(ALL_PARTS).filter(isPart));
  }

  /** Removes all listeners for good. */
  end(): void {
    this.#isOver = true;
    this.#listeners.clear();
  }
}

import type { StorePart } from '../../gateway/ports/store.ts';

type Listener = (parts: readonly StorePart[]) => void;

/** All parts of a store, reported when it is unknown which ones changed. */
export const ALL_PARTS: Readonly<Record<StorePart, true>> = {
  tokens: true,
  sessions: true,
  keys: true,
  credentials: true,
  labels: true,
  session_toolsets: true,
  records: true,
  audit: true,
  calls: true,
  approvals: true,
};

export function isPart(text: string | undefined): text is StorePart {
  return text !== undefined && Object.hasOwn(ALL_PARTS, text);
}

/** Change listeners; calls `first` when the first one is added and `none` when the last one is removed. */
export class Listeners {
  readonly #listeners = new Set<Listener>();
  #isOver = false;
  readonly #on: { first(): void; none(): void };

  constructor(on: { first(): void; none(): void }) {
    this.#on = on;
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Returns a function that unsubscribes. */
  add(listener: Listener): () => void {
    if (this.#isOver) return () => undefined;
    const own: Listener = (parts) => listener(parts);
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#on.first();
    return () => {
      if (this.#listeners.delete(own) && this.isEmpty) this.#on.none();
    };
  }

  notify(parts: readonly StorePart[]): void {
    for (const listener of [...this.#listeners]) listener(parts);
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

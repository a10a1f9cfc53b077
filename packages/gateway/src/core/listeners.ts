/** The listeners of one event. The same function may listen more than once. */
export class Listeners<Args extends readonly unknown[] = []> {
  readonly #listeners = new Set<(...args: Args) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /** Returns a function that unsubscribes. */
  add(listener: (...args: Args) => void): () => void {
    const own = (...args: Args): void => listener(...args);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** While it runs, listeners that are added are not called, nor those that are removed before their turn. */
  notify(...args: Args): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener(...args);
  }

  clear(): void {
    this.#listeners.clear();
  }
}

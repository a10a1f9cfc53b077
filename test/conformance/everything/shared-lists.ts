/** The optional entries of the lists. */
export type ExtraKind = 'tool' | 'prompt';

/** The lists of the server, which all of its sessions and requests share. */
export class SharedLists {
  readonly #extras = new Set<ExtraKind>();
  readonly #listeners = new Set<(kind: ExtraKind) => void>();

  has(kind: ExtraKind): boolean {
    return this.#extras.has(kind);
  }

  /** Adds the extra entry of this kind to its list, or removes it, and notifies all listeners. */
  change(kind: ExtraKind): void {
    if (!this.#extras.delete(kind)) this.#extras.add(kind);
    for (const listener of this.#listeners) listener(kind);
  }

  /** Returns a function that stops listening. */
  listen(listener: (kind: ExtraKind) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

/** What can be there or not, so that a list changes. */
export type ExtraKind = 'tool' | 'prompt';

/** The lists of the server, which all of its sessions and requests share. */
export class SharedLists {
  readonly #extras = new Set<ExtraKind>();
  readonly #listeners = new Set<(kind: ExtraKind) => void>();

  has(kind: ExtraKind): boolean {
    return this.#extras.has(kind);
  }

  /** Puts the extra entry of this kind into its list, or takes it out, and tells all who listen. */
  change(kind: ExtraKind): void {
    if (!this.#extras.delete(kind)) this.#extras.add(kind);
    for (const listener of this.#listeners) listener(kind);
  }

  /** Gives what ends the listening. */
  listen(listener: (kind: ExtraKind) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

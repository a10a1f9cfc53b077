/** Handle of an item in a chain, used to remove it. */
export interface Link<T> {
  readonly item: T;
  older: Link<T> | undefined;
  newer: Link<T> | undefined;
}

/** A linked list in insertion order: removing any item is O(1). */
export class Chain<T> {
  #oldest: Link<T> | undefined;
  #newest: Link<T> | undefined;

  get oldest(): T | undefined {
    return this.#oldest?.item;
  }

  add(item: T): Link<T> {
    const link: Link<T> = { item, older: this.#newest, newer: undefined };
    if (this.#newest === undefined) this.#oldest = link;
    else this.#newest.newer = link;
    this.#newest = link;
    return link;
  }

  /** Call it only once for each link. */
  remove({ older, newer }: Link<T>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}

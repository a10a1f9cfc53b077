/** Ids are `generation × MAX_SLOTS + slot`, so an id is not reused for a long time. */
const MAX_SLOTS = 65_536;

/**
 * Open items by id, which this class assigns. A Map would work, but one that is constantly filled and emptied leaves
 * old tables behind that keep finished entries alive until a full collection (docs/adr/0004).
 */
export class Slots<T> {
  readonly #items: (T | undefined)[] = [];
  readonly #ids: number[] = [];
  readonly #free: number[] = [];
  readonly #first: number;

  /** `first`: the generation before the first id. Ids of objects with other values differ for a long time. */
  constructor(first = 0) {
    this.#first = first;
  }

  /** Undefined if 65,536 items are open. */
  add(item: T): number | undefined {
    const slot = this.#free.pop() ?? this.#items.length;
    if (slot >= MAX_SLOTS) return undefined;
    const id = (this.#ids[slot] ?? this.#first * MAX_SLOTS + slot) + MAX_SLOTS;
    this.#ids[slot] = id;
    this.#items[slot] = item;
    return id;
  }

  get(id: number): T | undefined {
    const slot = id % MAX_SLOTS;
    return this.#ids[slot] === id ? this.#items[slot] : undefined;
  }

  delete(id: number): void {
    const slot = id % MAX_SLOTS;
    if (this.#ids[slot] !== id || this.#items[slot] === undefined) return;
    this.#items[slot] = undefined;
    this.#free.push(slot);
  }

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** A copy of all open items, so the caller may delete while iterating. */
  all(): readonly T[] {
    return this.#items.filter((item) => item !== undefined);
  }
}

/** Ids are `generation × MOST + slot`, so that an id is not used twice for a long time. */
const MOST = 65_536;

/**
 * What is open at the moment, by an id that it gives out. A Map would do, but one that is filled and emptied all the time
 * leaves old tables behind that keep finished entries alive until a full collection (docs/adr/0004).
 */
export class Slots<T> {
  readonly #items: (T | undefined)[] = [];
  readonly #ids: number[] = [];
  readonly #free: number[] = [];

  /** Undefined when 65,536 are open. */
  add(item: T): number | undefined {
    const slot = this.#free.pop() ?? this.#items.length;
    if (slot >= MOST) return undefined;
    const id = (this.#ids[slot] ?? slot) + MOST;
    this.#ids[slot] = id;
    this.#items[slot] = item;
    return id;
  }

  get(id: number): T | undefined {
    const slot = id % MOST;
    return this.#ids[slot] === id ? this.#items[slot] : undefined;
  }

  delete(id: number): void {
    const slot = id % MOST;
    if (this.#ids[slot] !== id || this.#items[slot] === undefined) return;
    this.#items[slot] = undefined;
    this.#free.push(slot);
  }

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** What is open now; a copy, so that it may be emptied meanwhile. */
  all(): readonly T[] {
    return this.#items.filter((item) => item !== undefined);
  }
}

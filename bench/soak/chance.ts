// Reproducible random choices: a seed always gives the same choices, separately for each actor.

export class Chance {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#state = seed;
  }

  /** An independent stream of choices that no other stream affects. */
  fork(name: string): Chance {
    let hash = this.#seed;
    for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
    return new Chance(hash);
  }

  /** A whole number, both ends inclusive. */
  between(min: number, max: number): number {
    return min + Math.floor(this.#next() * (max - min + 1));
  }

  happens(share: number): boolean {
    return this.#next() < share;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.between(0, list.length - 1)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  /** From 0 to below 1 (mulberry32). */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

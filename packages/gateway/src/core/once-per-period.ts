/** Admits each key at most once per period, such as log lines that would otherwise repeat. */
export class OncePerPeriod {
  readonly #periodMs: number;
  readonly #maxKeys: number;
  /** When each key was last admitted, oldest first, and how often it came again since. */
  readonly #admitted = new Map<string, { readonly atMs: number; others: number }>();

  /** Beyond so many keys, new ones share one turn per period. */
  constructor(periodMs: number, maxKeys: number) {
    this.#periodMs = periodMs;
    this.#maxKeys = maxKeys;
  }

  isDue(key: string, nowMs: number): boolean {
    const admitted = this.#admitted.get(this.#selectKey(key, nowMs));
    return admitted === undefined || nowMs - admitted.atMs >= this.#periodMs;
  }

  /** How often the key was held back since it was last admitted. Undefined if it is held back now. */
  admit(key: string, nowMs: number): number | undefined {
    const counted = this.#selectKey(key, nowMs);
    const before = this.#admitted.get(counted);
    if (before !== undefined && !this.isDue(counted, nowMs)) {
      before.others += 1;
      return undefined;
    }
    // Keeps the order, so that whatever fills the map does not cause a search of all of it.
    this.#admitted.delete(counted);
    this.#admitted.set(counted, { atMs: nowMs, others: 0 });
    return before?.others ?? 0;
  }

  #selectKey(key: string, nowMs: number): string {
    if (this.#admitted.has(key) || this.#admitted.size < this.#maxKeys) return key;
    for (const [known, { atMs }] of this.#admitted) {
      if (nowMs - atMs < this.#periodMs) break;
      this.#admitted.delete(known);
    }
    return this.#admitted.size < this.#maxKeys ? key : '';
  }
}

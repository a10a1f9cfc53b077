// Counts all results, and keeps the first unexpected ones verbatim. They are also told at once.

const MAX_KEPT = 40;

export class Tally {
  readonly #tell: (text: string) => void;
  readonly #counts = new Map<string, number>();
  readonly #unexpected: string[] = [];
  #unexpectedCount = 0;
  calls = 0;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => a.localeCompare(b)));
  }

  get unexpected(): readonly string[] {
    return this.#unexpected;
  }

  get unexpectedCount(): number {
    return this.#unexpectedCount;
  }

  count(what: string, result: string, times = 1): void {
    const key = `${what}: ${result}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + times);
  }

  /** Records a result that fails the run. */
  object(what: string, reason: string): void {
    this.count(what, 'UNEXPECTED');
    this.#unexpectedCount += 1;
    if (this.#unexpected.length >= MAX_KEPT) return;
    const text = `${new Date().toISOString().slice(11, 19)} ${what}: ${reason}`;
    this.#unexpected.push(text);
    this.#tell(`UNEXPECTED: ${text}`);
  }
}

/** Runs cleanup work once, in reverse order, continuing after failures. Node 22 has no AsyncDisposableStack. */
export class Cleanup {
  readonly #work: (() => unknown)[] = [];
  #closing: Promise<void> | undefined;

  defer(work: () => unknown): void {
    this.#work.push(work);
  }

  /** Rejects with the first failure, after all work has run. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const failures: unknown[] = [];
    for (let work = this.#work.pop(); work !== undefined; work = this.#work.pop())
      try {
        await work();
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }
}

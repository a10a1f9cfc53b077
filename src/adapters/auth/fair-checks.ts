/** Called with false if the check was dropped. */
type Turn = (isMine: boolean) => void;

/** Maximum number of waiting checks. */
const MAX_WAITING = 1_000;

/**
 * Checks signatures one after another, so that a flood of forged tokens takes at most one core. Sources take turns: a
 * source with few tokens does not wait for the many of another. If too many checks wait, the source with the most
 * loses its newest.
 */
export class FairChecks {
  readonly #maxWaiting: number;
  readonly #waiting = new Map<string, Turn[]>();
  #size = 0;
  #isBusy = false;

  constructor(maxWaiting: number = MAX_WAITING) {
    this.#maxWaiting = maxWaiting;
  }

  /** Waits for a turn; call `end` after it. False if too many checks wait. */
  begin(source: string): Promise<boolean> {
    if (!this.#isBusy) {
      this.#isBusy = true;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const same = this.#waiting.get(source);
      if (same === undefined) this.#waiting.set(source, [resolve]);
      else same.push(resolve);
      this.#size += 1;
      if (this.#size > this.#maxWaiting) this.#dropOne();
    });
  }

  /** Gives the turn to the source that has waited longest since its last one. */
  end(): void {
    const [next] = this.#waiting;
    this.#isBusy = next !== undefined;
    if (next === undefined) return;
    const [source, checks] = next;
    const check = checks.shift();
    this.#waiting.delete(source);
    if (checks.length > 0) this.#waiting.set(source, checks);
    this.#size -= 1;
    check?.(true);
  }

  /** The source with the most waiting checks loses its newest; among equals the one that came last. */
  #dropOne(): void {
    let most: readonly [string, Turn[]] | undefined;
    for (const entry of this.#waiting) if (entry[1].length >= (most?.[1].length ?? 0)) most = entry;
    if (most === undefined) return;
    const [source, checks] = most;
    const check = checks.pop();
    if (checks.length === 0) this.#waiting.delete(source);
    this.#size -= 1;
    check?.(false);
  }
}

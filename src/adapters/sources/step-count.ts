/** Thrown through a check that has no way of its own to stop. */
export class TooManySteps extends Error {}

/** About a tenth of a second of the work of a check, a few where it is of the worst kind. */
const MOST_STEPS = 2 ** 24;

/** Counts the work of a check, so that no schema and no value can take the time of all. */
export class StepCount {
  #left = MOST_STEPS;

  start(): void {
    this.#left = MOST_STEPS;
  }

  /** Throws `TooManySteps` where there are none left. */
  take(steps: number): true {
    this.#left -= steps;
    if (this.#left < 0) throw new TooManySteps('a check took too many steps');
    return true;
  }
}

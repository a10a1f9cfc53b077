import { setImmediate as breathe } from 'node:timers/promises';

/** Maximum time in ms that long work blocks the event loop, apart from a single step. */
const MAX_TURN_MS = 10;

export interface TurnsOptions {
  readonly nowMs?: (() => number) | undefined;
  /** Clock for `onWork`. Defaults to `nowMs`. */
  readonly workMs?: (() => number) | undefined;
  /** Called after each turn with its ms of work. */
  readonly onWork?: ((ms: number) => void) | undefined;
}

/** Splits long work into turns and yields to the event loop in between. */
export class Turns {
  readonly #nowMs: () => number;
  readonly #workMs: () => number;
  readonly #onWork: (ms: number) => void;
  #startMs: number;
  #startWorkMs: number;

  constructor(options: TurnsOptions = {}) {
    const { nowMs = () => performance.now(), workMs = nowMs, onWork = () => undefined } = options;
    this.#nowMs = nowMs;
    this.#workMs = workMs;
    this.#onWork = onWork;
    this.#startMs = nowMs();
    this.#startWorkMs = workMs();
  }

  get isOver(): boolean {
    return this.#nowMs() - this.#startMs >= MAX_TURN_MS;
  }

  /** Yields to the event loop. */
  async next(): Promise<void> {
    this.end();
    await breathe();
    this.#startMs = this.#nowMs();
    this.#startWorkMs = this.#workMs();
  }

  end(): void {
    this.#onWork(this.#workMs() - this.#startWorkMs);
  }
}

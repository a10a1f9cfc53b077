import { setImmediate as breathe } from 'node:timers/promises';

/** Longest time in ms that long work keeps the event loop, apart from a single step of it. */
const LONGEST_TURN_MS = 10;

export interface TurnsOptions {
  readonly nowMs?: (() => number) | undefined;
  /** The clock that `onWork` is measured by; without one it is `nowMs`. */
  readonly workMs?: (() => number) | undefined;
  /** Told of each turn how many ms of work it took. */
  readonly onWork?: ((ms: number) => void) | undefined;
}

/** Divides long work into turns, between which everything else goes on. */
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
    return this.#nowMs() - this.#startMs >= LONGEST_TURN_MS;
  }

  /** Resolves when everybody else had their turn. */
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

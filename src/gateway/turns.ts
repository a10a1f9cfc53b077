import { setImmediate as breathe } from 'node:timers/promises';

/** Longest time in ms that long work keeps the event loop, apart from a single step of it. */
const LONGEST_TURN_MS = 10;

export interface TurnsOptions {
  readonly nowMs?: (() => number) | undefined;
  /** Told of each turn how many ms it took. */
  readonly onWork?: ((ms: number) => void) | undefined;
}

/** Divides long work into turns, between which everything else goes on. */
export class Turns {
  readonly #nowMs: () => number;
  readonly #onWork: (ms: number) => void;
  #startMs: number;

  constructor({ nowMs = () => performance.now(), onWork = () => undefined }: TurnsOptions = {}) {
    this.#nowMs = nowMs;
    this.#onWork = onWork;
    this.#startMs = nowMs();
  }

  get isOver(): boolean {
    return this.#nowMs() - this.#startMs >= LONGEST_TURN_MS;
  }

  /** Resolves when everybody else had their turn. */
  async next(): Promise<void> {
    this.end();
    await breathe();
    this.#startMs = this.#nowMs();
  }

  end(): void {
    this.#onWork(this.#nowMs() - this.#startMs);
  }
}

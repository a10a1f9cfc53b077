/** Time in ms that deferred work may take per turn of the event loop, apart from a single step. */
const TURN_MS = 10;

interface Waiting {
  readonly run: () => void;
  /** Estimated ms of what `run` only sets going. */
  readonly startsMs: number;
}

let waiting: Waiting[] = [];
/** Whether the next turn passes without deferred work, and how many in a row did. */
let isSkipping = false;
let skipped = 0;
const MAX_SKIPPED = 20;

/**
 * Runs the work in a later turn of the event loop. All deferred work shares one time budget per turn, in order; it
 * contains the time that `work` takes and `startsMs`, an estimate of what it only sets going.
 */
export function runLater(work: () => void, startsMs = 0): void {
  if (waiting.push({ run: work, startsMs }) === 1) setImmediate(takeTurn);
}

/** Resolves in a later turn of the event loop. What follows has the rest of that turn's budget to itself. */
export function waitForTurn(): Promise<void> {
  return new Promise((resolve) => {
    runLater(resolve, TURN_MS);
  });
}

/**
 * Lets one turn pass without deferred work, at most 20 in a row. For new connections: Node accepts one per turn, so that
 * with turns of 20 ms the last of 200 would wait four seconds.
 */
export function skipTurn(): void {
  isSkipping = true;
}

function takeTurn(): void {
  if (isSkipping && skipped < MAX_SKIPPED) {
    isSkipping = false;
    skipped += 1;
    setImmediate(takeTurn);
    return;
  }
  isSkipping = false;
  skipped = 0;
  let endMs = performance.now() + TURN_MS;
  let done = 0;
  try {
    for (;;) {
      const next = waiting[done];
      if (next === undefined) break;
      done += 1;
      next.run();
      endMs -= next.startsMs;
      if (performance.now() >= endMs) break;
    }
  } finally {
    waiting = waiting.slice(done);
    if (waiting.length > 0) setImmediate(takeTurn);
  }
}

/** Calls `step` until it returns a value, yielding to others whenever the time budget is used up. */
export function runInTurns<T>(step: () => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      try {
        const found = step();
        if (found === undefined) runLater(go);
        else resolve(found);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    runLater(go);
  });
}

export interface TurnsOptions {
  readonly nowMs?: (() => number) | undefined;
  /** Clock for `onWork`. Defaults to `nowMs`. */
  readonly workMs?: (() => number) | undefined;
  /** Called after each turn with its ms of work. */
  readonly onWork?: ((ms: number) => void) | undefined;
}

/** Splits long asynchronous work into turns: `if (turns.isOver) await turns.next();` after each step. */
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
    return this.#nowMs() - this.#startMs >= TURN_MS;
  }

  /** Yields to the event loop. */
  async next(): Promise<void> {
    this.end();
    await waitForTurn();
    this.#startMs = this.#nowMs();
    this.#startWorkMs = this.#workMs();
  }

  end(): void {
    this.#onWork(this.#workMs() - this.#startWorkMs);
  }
}

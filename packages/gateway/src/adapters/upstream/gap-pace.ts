/** The clock of a pace. */
export interface GapClock {
  /** Monotonic time in ms. */
  readonly nowMs: () => number;
  /** Calls back once after this many ms. Returns a function that cancels it. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

const REAL_CLOCK: GapClock = {
  nowMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Minimum time in ms between two reports. */
const INTERVAL_MS = 60_000;

/**
 * Reports that notifications of a server may have been lost. The first gap is reported at once; further ones soon after
 * it are reported once together, when a minute is over: something on the way may cut the stream every few seconds, and
 * each report costs a reading of all lists and an update of each subscription.
 */
export class GapPace {
  readonly #report: () => void;
  readonly #clock: GapClock;
  #lastMs = -Infinity;
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(report: () => void, clock: GapClock = REAL_CLOCK) {
    this.#report = report;
    this.#clock = clock;
  }

  note(): void {
    if (this.#isOver || this.#cancel !== undefined) return;
    const waitMs = this.#lastMs + INTERVAL_MS - this.#clock.nowMs();
    if (waitMs > 0) this.#cancel = this.#clock.after(waitMs, () => this.#reportNow());
    else this.#reportNow();
  }

  /** The link is gone; the next one is read in full. */
  end(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  #reportNow(): void {
    this.#cancel = undefined;
    this.#lastMs = this.#clock.nowMs();
    this.#report();
  }
}

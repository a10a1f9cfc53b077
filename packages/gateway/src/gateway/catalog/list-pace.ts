import type { ListKind } from '../ports/link.ts';

/** After a reading, the next one waits this many times its cost. */
const REST_FACTOR = 10;
/** Maximum cost in ms per byte of receiving and scanning an answer. */
const MS_PER_BYTE = 1 / 20_000;

/** The clocks that readings use. */
export interface ListClock {
  /** Monotonic time in ms. */
  readonly nowMs: () => number;
  /** CPU time of this thread in ms. On a busy machine elapsed time says little about the work done. */
  readonly workMs: () => number;
  /** Calls back once after this many ms. Returns a function that cancels it. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

export const REAL_CLOCK: ListClock = {
  nowMs: () => performance.now(),
  workMs: 'threadCpuUsage' in process ? threadCpuMs : () => performance.eventLoopUtilization().active,
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Available from Node 23.9. Before that, the active time of the event loop is the closest substitute. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * The work of reading one list. Handling answers is measured. Receiving and scanning happens on the connection, which
 * serves others too: the thread's other work counts, up to a maximum per byte received.
 */
export class ReadingCost {
  readonly #clock: ListClock;
  readonly #beganMs: number;
  #handlingMs = 0;
  #bytes = 0;

  constructor(clock: ListClock) {
    this.#clock = clock;
    this.#beganMs = clock.workMs();
  }

  add(work: { readonly bytes: number } | { readonly ms: number }): void {
    if ('ms' in work) this.#handlingMs += work.ms;
    else this.#bytes += work.bytes;
  }

  get ms(): number {
    const otherMs = Math.max(this.#clock.workMs() - this.#beganMs - this.#handlingMs, 0);
    return this.#handlingMs + Math.min(otherMs, this.#bytes * MS_PER_BYTE);
  }
}

/** Keeps a server that constantly reports list changes from taking more than a small share of the time. */
export class ListPace {
  readonly #clock: ListClock;
  readonly #dueMs = new Map<ListKind, number>();

  constructor(clock: ListClock) {
    this.#clock = clock;
  }

  /** Time in ms until the list may be read again. */
  waitMs(kind: ListKind): number {
    return Math.max((this.#dueMs.get(kind) ?? -Infinity) - this.#clock.nowMs(), 0);
  }

  /** A reading of the list has ended. */
  wasRead(kind: ListKind, { ms }: ReadingCost): void {
    this.#dueMs.set(kind, this.#clock.nowMs() + REST_FACTOR * ms);
  }
}

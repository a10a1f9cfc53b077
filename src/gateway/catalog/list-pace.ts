import type { ListKind } from '../ports/link.ts';

/** A list is read again after so many times what the last reading cost. */
const REST_FACTOR = 10;
/** What a byte of an answer costs at most, in ms, before its list is looked at: to be received and scanned. */
const MS_PER_BYTE = 1 / 20_000;

/** What of the time readings need. */
export interface ListClock {
  /** Time in ms from any point on. */
  readonly nowMs: () => number;
  /** CPU time in ms that this thread has used: on a busy machine the time that passes says little about the work. */
  readonly workMs: () => number;
  /** Calls back once after so many ms. The returned function prevents that. */
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

/** Node has it from 23.9 on; before, the time that the event loop was not idle comes nearest. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * The work that one reading of a list makes. The handling of answers is measured. To receive and scan them is work of the
 * connection, which serves others too: the thread's work meanwhile counts for it, up to a most for each byte received.
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

/** Keeps a server that says without end that its lists have changed from taking more than a small share of the time. */
export class ListPace {
  readonly #clock: ListClock;
  readonly #dueMs = new Map<ListKind, number>();

  constructor(clock: ListClock) {
    this.#clock = clock;
  }

  /** How long in ms a list must not be read yet. */
  waitMs(kind: ListKind): number {
    return Math.max((this.#dueMs.get(kind) ?? -Infinity) - this.#clock.nowMs(), 0);
  }

  /** A reading of the list has ended. */
  wasRead(kind: ListKind, { ms }: ReadingCost): void {
    this.#dueMs.set(kind, this.#clock.nowMs() + REST_FACTOR * ms);
  }
}

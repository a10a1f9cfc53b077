import { StartQueue } from '../../core/start-queue.ts';

/** Time in ms after which a process that is not ready lets the next one start: it may hang or wait for a network. */
const SLOT_MS = 4_000;

export interface StartLimiterOptions {
  /** How many processes may be starting at once. */
  readonly slots: number;
  readonly slotMs?: number;
}

/** The start of a process, from its place in the queue to the end of its handshake. */
export interface LimitedStart {
  /** Whether it still waits for a slot. */
  readonly isQueued: boolean;
  /** Resolves when the process may be started; undefined if it may be now. */
  readonly turn: Promise<void> | undefined;
  /** A call waits for it. */
  prioritize(): void;
  /** It is ready, failed or is no longer wanted. */
  end(): void;
}

/**
 * Lets only so many processes of servers start at once. More would only take the processor from each other, so that all
 * are late; those that a call waits for start first.
 */
export class StartLimiter {
  readonly #queue: StartQueue;
  readonly #slotMs: number;

  constructor({ slots, slotMs = SLOT_MS }: StartLimiterOptions) {
    this.#queue = new StartQueue(slots);
    this.#slotMs = slotMs;
  }

  enter(isUrgent: boolean): LimitedStart {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let timer: NodeJS.Timeout | undefined;
    const state = { isQueued: true };
    const place = this.#queue.enter(() => {
      state.isQueued = false;
      timer = setTimeout(() => place.end(), this.#slotMs).unref();
      resolve(undefined);
    }, isUrgent);
    return {
      get isQueued() {
        return state.isQueued;
      },
      turn: state.isQueued ? promise : undefined,
      prioritize: () => place.prioritize(),
      end: () => {
        state.isQueued = false;
        clearTimeout(timer);
        place.end();
        // Whoever waits for a turn that does not come finds that out itself.
        resolve(undefined);
      },
    };
  }
}

import { recoveryOf, type Cause } from './cause.ts';

/** First wait before a server is started again, in ms; it doubles with each failure in a row. */
const FIRST_DELAY_MS = 250;
/** So many ends in a row, none after a stable life, are a crash loop: the server rests. */
const MOST_FAILURES = 6;
/** A server that stood this long, in ms, has recovered: its next end counts as a first one. */
const STABLE_AFTER_MS = 10_000;
/** Between two tries of a server that rests or was refused, in ms. */
const REST_MS = 60_000;
/** A call wakes a server whose last try is at least so many ms ago. */
const WAKES_AFTER_MS = 5_000;

/**
 * The life of one server. `cause` is the first cause of the trouble that it is in, however many others followed.
 * - `starting`: the first try is under way.
 * - `restarting`: it is being brought back. Where it stood before, calls wait for it.
 * - `resting`: it ended too often in a row; tried once a minute, or when a call wakes it.
 * - `unauthorized`: it waits for somebody to sign in; tried as when it rests, and as soon as somebody has.
 * - `refused`: no try can succeed before something is mended outside (no such command, no right); tried as when it rests.
 */
export type Life =
  | { readonly state: 'starting' }
  | {
      readonly state: 'up';
      readonly sinceMs: number;
      readonly failures: number;
      readonly cause: Cause | undefined;
    }
  | Down
  | { readonly state: 'stopped'; readonly cause: Cause };

export interface Down {
  readonly state: 'restarting' | 'resting' | 'refused' | 'unauthorized';
  readonly cause: Cause;
  readonly hasStood: boolean;
  /** Ends in a row. */
  readonly failures: number;
  readonly endedMs: number;
  readonly nextMs: number;
}

export type LifeEvent =
  | { readonly kind: 'stood'; readonly nowMs: number }
  /** `chance`: 0 to 1, spreads servers that ended together by ±20 %. */
  | { readonly kind: 'ended'; readonly cause: Cause; readonly nowMs: number; readonly chance: number }
  | { readonly kind: 'stopped'; readonly cause: Cause };

/** How long to wait before a list that could not be read is asked for again, in ms. `failures`: in a row, 1 or more. */
export function listRetryMs(failures: number): number {
  return Math.min(1_000 * 2 ** (failures - 1), REST_MS);
}

export const BORN: Life = { state: 'starting' };

/** What becomes of a life by an event. A stopped one stays stopped. */
export function lifeAfter(life: Life, event: LifeEvent): Life {
  if (life.state === 'stopped') return life;
  switch (event.kind) {
    case 'stood': {
      const { failures, cause } = life.state === 'starting' ? FRESH : life;
      return { state: 'up', sinceMs: event.nowMs, failures, cause };
    }
    case 'ended':
      return down(life, event);
    case 'stopped':
      return { state: 'stopped', cause: event.cause };
  }
}

const FRESH: { readonly failures: number; readonly cause: Cause | undefined } = {
  failures: 0,
  cause: undefined,
};

function down(life: Exclude<Life, { state: 'stopped' }>, event: Extract<LifeEvent, { kind: 'ended' }>): Down {
  const { cause, nowMs, chance } = event;
  const hasRecovered = life.state === 'up' && nowMs - life.sinceMs > STABLE_AFTER_MS;
  const before = life.state === 'starting' || hasRecovered ? FRESH : life;
  const failures = before.failures + 1;
  const hasStood = life.state === 'up' || (life.state !== 'starting' && life.hasStood);
  const state = stateAfter(cause, failures);
  const delayMs = state === 'restarting' ? FIRST_DELAY_MS * 2 ** (failures - 1) : REST_MS;
  return {
    state,
    // What keeps it from starting now says more than why it ended once.
    cause: recoveryOf(cause) === 'time' ? (before.cause ?? cause) : cause,
    hasStood,
    failures,
    endedMs: nowMs,
    nextMs: nowMs + Math.round(delayMs * (0.8 + 0.4 * chance)),
  };
}

function stateAfter(cause: Cause, failures: number): Down['state'] {
  switch (recoveryOf(cause)) {
    case 'sign_in':
      return 'unauthorized';
    case 'change':
      return 'refused';
    case 'time':
      return failures >= MOST_FAILURES ? 'resting' : 'restarting';
  }
}

/** Whether a call may wait for a server that is down, because it is about to be tried. */
export function isWorthWaiting(life: Down, nowMs: number): boolean {
  if (life.state === 'restarting') return life.hasStood;
  return nowMs - life.endedMs >= WAKES_AFTER_MS;
}

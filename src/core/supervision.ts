import { getRecovery, type Cause } from './cause.ts';
import { computeBackoffMs } from './backoff.ts';

/** Delay before the first restart of a server, in ms; it doubles with each consecutive failure. */
const FIRST_DELAY_MS = 250;
/** After this many consecutive failures without a stable period, the server counts as crash looping and backs off. */
const MAX_FAILURES = 6;
/** A server that was up for this long, in ms, has recovered: its failure count starts over. */
const STABLE_AFTER_MS = 10_000;
/** Interval between attempts for a server that is backing off or was refused, in ms. */
const BACKOFF_MS = 60_000;
/** A call triggers an attempt if the last one was at least this many ms ago. */
const WAKES_AFTER_MS = 5_000;

/**
 * The state of one server. `cause` is the first cause of the current trouble, however many others followed.
 * - `starting`: the first attempt is under way.
 * - `restarting`: being restarted. If it was up before, calls wait for it.
 * - `backoff`: it failed too often in a row; tried once a minute, or when a call needs it.
 * - `unauthorized`: needs a sign-in; tried like `backoff`, and right after a sign-in.
 * - `refused`: cannot succeed before a fix outside Assay (no such command, no permission); tried like `backoff`.
 */
export type ServerState =
  | { readonly state: 'starting' }
  | {
      readonly state: 'up';
      readonly sinceMs: number;
      readonly failures: number;
      readonly cause: Cause | undefined;
    }
  | DownState
  | { readonly state: 'stopped'; readonly cause: Cause };

export interface DownState {
  readonly state: 'restarting' | 'backoff' | 'refused' | 'unauthorized';
  readonly cause: Cause;
  readonly wasReady: boolean;
  /** Consecutive failures. */
  readonly failures: number;
  readonly endedMs: number;
  readonly nextMs: number;
}

export type ServerEvent =
  | { readonly kind: 'ready'; readonly nowMs: number }
  /** `chance`: 0 to 1, spreads the restarts of servers that failed together by ±20 %. */
  | { readonly kind: 'ended'; readonly cause: Cause; readonly nowMs: number; readonly chance: number }
  | { readonly kind: 'stopped'; readonly cause: Cause };

/** Delay before retrying a list that could not be read, in ms. `failures`: consecutive, 1 or more. */
export function computeListRetryMs(failures: number): number {
  return computeBackoffMs(failures, { firstMs: 1_000, maxMs: BACKOFF_MS });
}

export const INITIAL_STATE: ServerState = { state: 'starting' };

/** The state after an event. A stopped server stays stopped. */
export function computeNextState(current: ServerState, event: ServerEvent): ServerState {
  if (current.state === 'stopped') return current;
  switch (event.kind) {
    case 'ready': {
      const { failures, cause } = current.state === 'starting' ? FRESH : current;
      return { state: 'up', sinceMs: event.nowMs, failures, cause };
    }
    case 'ended':
      return down(current, event);
    case 'stopped':
      return { state: 'stopped', cause: event.cause };
  }
}

const FRESH: { readonly failures: number; readonly cause: Cause | undefined } = {
  failures: 0,
  cause: undefined,
};

function down(
  current: Exclude<ServerState, { state: 'stopped' }>,
  event: Extract<ServerEvent, { kind: 'ended' }>,
): DownState {
  const { cause, nowMs, chance } = event;
  const hasRecovered = current.state === 'up' && nowMs - current.sinceMs > STABLE_AFTER_MS;
  const before = current.state === 'starting' || hasRecovered ? FRESH : current;
  const failures = before.failures + 1;
  const wasReady = current.state === 'up' || (current.state !== 'starting' && current.wasReady);
  const state = stateAfter(cause, failures);
  const delayMs =
    state === 'restarting' ? computeBackoffMs(failures, { firstMs: FIRST_DELAY_MS }) : BACKOFF_MS;
  return {
    state,
    // The reason why it cannot start now is more useful than why it ended before.
    cause: getRecovery(cause) === 'time' ? (before.cause ?? cause) : cause,
    wasReady: wasReady,
    failures,
    endedMs: nowMs,
    nextMs: nowMs + Math.round(delayMs * (0.8 + 0.4 * chance)),
  };
}

function stateAfter(cause: Cause, failures: number): DownState['state'] {
  switch (getRecovery(cause)) {
    case 'sign_in':
      return 'unauthorized';
    case 'change':
      return 'refused';
    case 'time':
      return failures >= MAX_FAILURES ? 'backoff' : 'restarting';
  }
}

/** Whether a call may wait for a server that is down, because an attempt is imminent. */
export function isWorthWaiting(current: DownState, nowMs: number): boolean {
  if (current.state === 'restarting') return current.wasReady;
  return nowMs - current.endedMs >= WAKES_AFTER_MS;
}

import { getRecovery, type Cause } from './cause.ts';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';
import { getServerLevel, type ServerStateName } from '@assay-mcp/kit/server-states';

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
 * - `idle`: not running, as nothing needs it; its lists are known, and the next request starts it.
 * - `starting`: the first attempt is under way, or the first since it was idle.
 * - `restarting`: being restarted. If it was up before, calls wait for it.
 * - `backoff`: it failed too often in a row; tried once a minute, or when a call needs it.
 * - `unauthorized`: needs a sign-in; tried like `backoff`, and right after a sign-in.
 * - `refused`: cannot succeed before a fix outside Assay (no such command, no permission); tried like `backoff`.
 */
export type ServerState =
  | {
      readonly state: 'idle';
      /** Why its stop may have lost something that it kept in memory. Undefined: no reason to think so. */
      readonly lost: KeptState | undefined;
    }
  | {
      readonly state: 'starting';
      /** Set if it was idle before. */
      readonly isWoken?: true;
    }
  | {
      readonly state: 'up';
      readonly sinceMs: number;
      readonly failures: number;
      readonly cause: Cause | undefined;
    }
  | DownState
  | { readonly state: 'stopped'; readonly cause: Cause };

/**
 * Why a server may keep state in memory that ends with its process: a verification observed it, or a tool ran that is
 * not known to be read-only.
 */
export type KeptState = 'observed' | 'possible';

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
  | { readonly kind: 'stopped'; readonly cause: Cause }
  /** Nothing needs it, so its process ends or is not started. */
  | { readonly kind: 'unneeded'; readonly lost: KeptState | undefined }
  /** A request needs it. */
  | { readonly kind: 'needed' };

/** Delay before retrying a list that could not be read, in ms. `failures`: consecutive, 1 or more. */
export function computeListRetryMs(failures: number): number {
  return computeBackoffMs(failures, { firstMs: 1_000, maxMs: BACKOFF_MS });
}

/** Whether calls of a server's tools can be answered: it runs, or starts when one needs it. */
export function isReady({ state }: { readonly state: ServerStateName }): boolean {
  return getServerLevel(state) === 'ready';
}

export const INITIAL_STATE: ServerState = { state: 'starting' };

/** The state after an event. A stopped server stays stopped. */
export function computeNextState(current: ServerState, event: ServerEvent): ServerState {
  if (current.state === 'stopped') return current;
  switch (event.kind) {
    case 'ready': {
      const { failures, cause } = 'failures' in current ? current : FRESH;
      return { state: 'up', sinceMs: event.nowMs, failures, cause };
    }
    case 'ended':
      return current.state === 'idle' ? current : down(current, event);
    case 'stopped':
      return { state: 'stopped', cause: event.cause };
    case 'unneeded':
      return current.state === 'up' || current.state === 'starting'
        ? { state: 'idle', lost: event.lost }
        : current;
    case 'needed':
      return current.state === 'idle' ? { state: 'starting', isWoken: true } : current;
  }
}

const FRESH: { readonly failures: number; readonly cause: Cause | undefined } = {
  failures: 0,
  cause: undefined,
};

function down(
  current: Exclude<ServerState, { state: 'stopped' | 'idle' }>,
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

/** A server that may keep state in memory is stopped at the earliest after this many ms without use. */
const KEPT_STATE_IDLE_MS = 30 * 60_000;

/** What a running server is used for. */
export interface ServerUsage {
  /** How long in ms a server runs unused. */
  readonly idleMs: number;
  readonly lastUsedMs: number;
  readonly keptState: KeptState | undefined;
}

/** Time in ms until a server that is not in use is stopped; 0: now. */
export function computeIdleStopMs({ idleMs, lastUsedMs, keptState }: ServerUsage, nowMs: number): number {
  const limitMs = keptState === undefined ? idleMs : Math.max(idleMs, KEPT_STATE_IDLE_MS);
  return Math.max(lastUsedMs + limitMs - nowMs, 0);
}

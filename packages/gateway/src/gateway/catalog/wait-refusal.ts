import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { isWorthWaiting, type ServerState } from '../../core/supervision.ts';
import type { Log } from '../ports/log.ts';

/**
 * Why a request must not wait for a server, or no longer. Undefined: it may wait. `isLate`: its time limit has passed.
 */
export function findWaitRefusal(
  server: string,
  serverState: ServerState,
  { isLate, nowMs }: { readonly isLate: boolean; readonly nowMs: number },
): Refusal | undefined {
  if (serverState.state === 'stopped') return toStopRefusal(server, serverState.cause);
  if (!isLate && (!('nextMs' in serverState) || isWorthWaiting(serverState, nowMs))) return undefined;
  return { code: 'SERVER_UNAVAILABLE', server, cause: getStateCause(serverState) };
}

/** Why a server is not up. */
export function getStateCause(serverState: ServerState): Cause {
  return ('cause' in serverState ? serverState.cause : undefined) ?? { code: 'SERVER_NOT_READY' };
}

/** Turns an internal error of one server into a cause, so that other servers are unaffected. */
export function reportStartFailure(server: string, error: unknown, log: Log): Cause {
  log.error('a server could not be started', {
    server,
    error: error instanceof Error ? error.stack : String(error),
  });
  return { code: 'START_FAILED' };
}

export function toStopRefusal(server: string, cause: Cause): Refusal {
  return cause.code === 'SHUTTING_DOWN'
    ? { code: 'SHUTTING_DOWN' }
    : { code: 'SERVER_UNAVAILABLE', server, cause };
}

import type { Refusal } from '../../core/refusal.ts';
import { isWorthWaiting, type Life } from '../../core/supervision.ts';

/** Why all servers stop at the end. */
export const SHUTDOWN = 'Assay is shutting down';

/** Why a request need not wait for a server, or no longer; undefined: it may. `isLate`: it has waited for as long as it may. */
export function whyNotWait(
  server: string,
  life: Life,
  { isLate, nowMs }: { readonly isLate: boolean; readonly nowMs: number },
): Refusal | undefined {
  if (life.state === 'stopped') return stopRefusal(server, life.cause);
  if (!isLate && (!('nextMs' in life) || isWorthWaiting(life, nowMs))) return undefined;
  const cause = ('cause' in life ? life.cause : undefined) ?? 'it has not started yet';
  return { code: 'SERVER_UNAVAILABLE', server, cause };
}

export function stopRefusal(server: string, cause: string): Refusal {
  return cause === SHUTDOWN ? { code: 'SHUTTING_DOWN' } : { code: 'SERVER_UNAVAILABLE', server, cause };
}

import type { Cause, CauseCode } from '../cause.ts';
import type { ResolvedHints } from '../hints/resolve.ts';
import type { Refusal } from '../refusal.ts';
import { findTrustedValue } from './rule.ts';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';

/**
 * Whether a call of a tool may be resent although its server may have executed it: only if the tool is read-only or
 * idempotent by a claim that may lower caution. Defaults, observations and untrusted declarations never suffice.
 */
export function mayRepeat({ readOnlyHint, idempotentHint }: ResolvedHints): boolean {
  return findTrustedValue(readOnlyHint) === true || findTrustedValue(idempotentHint) === true;
}

/**
 * What a refusal means for a call on its way to a server.
 * - `unsent`: the server did not get it.
 * - `lost`: the connection failed, so the server may have carried it out, and may answer if it is sent again.
 * - `uncertain`: the server may have carried it out; sending it again would not help.
 * - `refused`: the server did not carry it out, or the client no longer wants it.
 */
export type Delivery = 'unsent' | 'lost' | 'uncertain' | 'refused';

export function getDelivery(refusal: Refusal): Delivery {
  switch (refusal.code) {
    case 'SERVER_UNREACHED':
      return 'unsent';
    case 'SESSION_RENEWED':
      return 'lost';
    case 'SERVER_ENDED':
      return isConnectionLoss(refusal.cause) ? 'lost' : 'uncertain';
    case 'SERVER_UNAVAILABLE':
      if (isConnectionLoss(refusal.cause)) return refusal.httpStatus === undefined ? 'refused' : 'lost';
      return isServerError(refusal.cause) ? 'uncertain' : 'refused';
    case 'SERVER_TIMEOUT':
    case 'SERVER_MESSAGE_INVALID':
      return 'uncertain';
    default:
      return 'refused';
  }
}

/** How often a call may be resent in total after this refusal. `max`: the operator's limit. */
export function computeMaxRepeats(refusal: Refusal, { max, mayRepeat }: Repeats): number {
  switch (getDelivery(refusal)) {
    case 'unsent':
      return mayRepeat ? Math.max(max, 1) : 1;
    case 'lost':
      // The call itself may crash the process, and each crash fails the calls of all other clients.
      return mayRepeat ? Math.min(max, hasProcessEnded(refusal) ? 1 : max) : 0;
    default:
      return 0;
  }
}

export interface Repeats {
  readonly max: number;
  /** Whether the call may be resent although the server may have executed it. */
  readonly mayRepeat: boolean;
}

/** Time in ms that the server asked to wait before the request is sent again. */
export function getWaitMs(refusal: Refusal): number {
  const cause = 'cause' in refusal ? refusal.cause : undefined;
  return cause !== undefined && 'waitSeconds' in cause ? 1_000 * (cause.waitSeconds ?? 0) : 0;
}

const FIRST_DELAY_MS = 100;

/**
 * Delay in ms before a call is resent. `repeat`: 1 or more; `chance`: from 0 to 1, spreads calls that failed together.
 */
export function computeRepeatDelayMs(repeat: number, chance: number): number {
  return computeBackoffMs(repeat, { firstMs: FIRST_DELAY_MS, chance });
}

const ENDED_PROCESS: ReadonlySet<CauseCode> = new Set([
  'PROCESS_EXITED',
  'PROCESS_KILLED',
  'STDOUT_CLOSED',
  'STDIN_CLOSED',
]);

const LOST_CONNECTION: ReadonlySet<CauseCode> = new Set([
  ...ENDED_PROCESS,
  'CONNECTION_REFUSED',
  'CONNECTION_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_FAILED',
  'NETWORK_UNREACHABLE',
  'SESSION_EXPIRED',
  'RESPONSE_INCOMPLETE',
  'STREAM_CLOSED',
  'STREAM_NOT_RESUMED',
]);

/** Bad gateway, service unavailable, gateway timeout: from a proxy, or from a server that is restarting. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

function isConnectionLoss(cause: Cause): boolean {
  return cause.code === 'HTTP_SERVER_ERROR'
    ? GATEWAY_STATUSES.has(cause.status)
    : LOST_CONNECTION.has(cause.code);
}

function isServerError({ code }: Cause): boolean {
  return code === 'HTTP_SERVER_ERROR' || code === 'TOOL_FAILED' || code === 'RESPONSE_INVALID';
}

function hasProcessEnded(refusal: Refusal): boolean {
  return refusal.code === 'SERVER_ENDED' && ENDED_PROCESS.has(refusal.cause.code);
}

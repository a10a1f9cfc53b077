import type { ServerOptions } from 'node:http';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';

/** Bounds in ms for the interval at which Node checks for slow requests. Shorter time limits are checked more often. */
const CHECK_INTERVAL_MS = { min: 100, max: 5_000 };

/** Node does not start if `headersTimeout` exceeds `requestTimeout`. */
export function buildTimeLimits(
  limits?: Partial<Pick<FixedLimits, 'requestMs' | 'headersMs' | 'idleConnectionMs'>>,
): ServerOptions {
  const { requestMs: requestTimeout, headersMs, idleConnectionMs } = { ...FIXED_LIMITS, ...limits };
  const headersTimeout = Math.min(headersMs, requestTimeout);
  return {
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.max(
      CHECK_INTERVAL_MS.min,
      Math.min(CHECK_INTERVAL_MS.max, headersTimeout),
    ),
    keepAliveTimeout: idleConnectionMs,
  };
}

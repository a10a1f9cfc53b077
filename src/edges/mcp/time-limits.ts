import type { ServerOptions } from 'node:http';
import type { Settings } from '../../core/settings.ts';

/** Bounds in ms for the interval at which Node checks for slow requests. Shorter time limits are checked more often. */
const CHECK_INTERVAL_MS = { min: 100, max: 5_000 };

/** Node does not start if `headersTimeout` exceeds `requestTimeout`. */
export function timeLimits(settings: Settings): ServerOptions {
  const requestTimeout = settings['limits.requestMs'];
  const headersTimeout = Math.min(settings['limits.headersMs'], requestTimeout);
  return {
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.max(
      CHECK_INTERVAL_MS.min,
      Math.min(CHECK_INTERVAL_MS.max, headersTimeout),
    ),
    keepAliveTimeout: settings['limits.idleConnectionMs'],
  };
}

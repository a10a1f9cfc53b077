import type { ServerOptions } from 'node:http';
import type { Settings } from '../../core/settings.ts';

/** How often in ms Node looks for requests that take too long: more often where they may take less, within reason. */
const CHECK_EVERY_MS = { least: 100, most: 5_000 };

/** Node refuses to start where headers may take longer than the whole. */
export function timeLimits(settings: Settings): ServerOptions {
  const requestTimeout = settings['limits.requestMs'];
  const headersTimeout = Math.min(settings['limits.headersMs'], requestTimeout);
  return {
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.max(
      CHECK_EVERY_MS.least,
      Math.min(CHECK_EVERY_MS.most, headersTimeout),
    ),
    keepAliveTimeout: settings['limits.idleConnectionMs'],
  };
}

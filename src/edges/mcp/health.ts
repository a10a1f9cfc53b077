import { VERSION } from '../../core/identity.ts';
import type { Catalog } from '../../gateway/catalog.ts';
import { conditionsOf, type Condition } from '../../gateway/condition.ts';
import { reviewCounts, type ReviewCounts } from '../../gateway/hints/review-counts.ts';

export interface Health {
  /** `starting` until each server had its chance, then `ok` if all are up and could list what they have; `stopping` as soon as no new request is taken. */
  readonly status: 'ok' | 'starting' | 'degraded' | 'stopping';
  readonly version: string;
  readonly uptimeMs: number;
  /** Why the config file, as it is now, is not what runs. */
  readonly configFault?: string;
  /** Why nothing can be saved. */
  readonly storeFault?: string;
  readonly servers: readonly Condition[];
  /** Tools, prompts and resources that are shown otherwise than their servers wrote them, or not at all. */
  readonly reports: readonly string[];
  /** Tools that wait for a review; absent: none does. */
  readonly review?: ReviewCounts;
}

interface HealthFacts {
  readonly uptimeMs: number;
  readonly isStopping: boolean;
  readonly storeFault?: string | undefined;
}

export function healthOf(catalog: Catalog, { uptimeMs, isStopping, storeFault }: HealthFacts): Health {
  const servers = conditionsOf(catalog);
  const { configFault } = catalog;
  const review = reviewCounts(catalog);
  const isWell = configFault === undefined && storeFault === undefined;
  const isUp = servers.every(({ state, listFaults }) => state === 'up' && listFaults === undefined) && isWell;
  const isStarting = servers.some(({ state }) => state === 'starting');
  return {
    status: isStopping ? 'stopping' : isUp ? 'ok' : isStarting ? 'starting' : 'degraded',
    version: VERSION,
    uptimeMs,
    ...(configFault !== undefined && { configFault }),
    ...(storeFault !== undefined && { storeFault }),
    servers,
    reports: catalog.reports(),
    ...(review !== undefined && { review }),
  };
}

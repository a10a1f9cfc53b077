import type { Refusal } from './refusal.ts';

/** Why a process is not ready, or only in part. */
export const READINESS_REASONS = [
  'starting',
  'stopping',
  'store_unavailable',
  'store_stale',
  'store_not_followed',
  'key_unusable',
  'config_invalid',
] as const;

export type ReadinessReason = (typeof READINESS_REASONS)[number];

export interface Readiness {
  /** `unavailable`: requests would be refused, so a balancer should send none. */
  readonly status: 'ready' | 'degraded' | 'unavailable';
  readonly reasons: readonly ReadinessReason[];
}

export interface ReadinessFacts {
  readonly isStopping: boolean;
  /** Whether what was last read from the store is too old to decide on access. */
  readonly isStoreStale: boolean;
  readonly storeFault: Refusal | undefined;
  /** Why what the store keeps encrypted cannot be decrypted. */
  readonly keyFault: Refusal | undefined;
  readonly isConfigInvalid: boolean;
}

/**
 * While the store cannot be reached, requests are served from memory for a while, so all replicas of a database that
 * restarts stay available. Only what would refuse all requests makes a process unavailable.
 */
export function computeReadiness(facts: ReadinessFacts): Readiness {
  const { isStopping, isStoreStale, storeFault, keyFault, isConfigInvalid } = facts;
  const reasons: ReadinessReason[] = [];
  if (isStopping) reasons.push('stopping');
  if (isStoreStale) reasons.push('store_stale');
  if (storeFault !== undefined) reasons.push(toReason(storeFault));
  if (keyFault !== undefined) reasons.push('key_unusable');
  if (isConfigInvalid) reasons.push('config_invalid');
  const isRefusing = isStopping || isStoreStale;
  return { status: isRefusing ? 'unavailable' : reasons.length > 0 ? 'degraded' : 'ready', reasons };
}

function toReason(fault: Refusal): ReadinessReason {
  const isReachable = fault.code === 'STORE_NOT_FOLLOWED' && fault.notifications !== 'unreachable';
  return isReachable ? 'store_not_followed' : 'store_unavailable';
}

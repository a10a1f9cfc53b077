import { ALLOW_ALL, type Policy } from '../../core/policy.ts';
import { steadyClock } from '../../core/token.ts';
import type { Settings } from '../../core/settings.ts';
import { SuspendedCalls } from './suspended-calls.ts';
import type { Sealer } from '../ports/sealing.ts';

/** Shared dependencies of calls. */
export interface CallDeps {
  readonly policy: Policy;
  readonly sealer: Sealer;
  readonly suspended: SuspendedCalls;
  /** Clock for the expiry of sealed states. */
  readonly nowMs: () => number;
}

export interface CallDepsOptions {
  readonly sealer: Sealer;
  /** Identifies this process among all replicas that clients may reach. */
  readonly replica: string;
  readonly limits: Settings;
  /** Defaults to allowing everything. */
  readonly policy?: Policy | undefined;
}

export function callDeps({ sealer, replica, limits, policy = ALLOW_ALL }: CallDepsOptions): CallDeps {
  return { policy, sealer, suspended: new SuspendedCalls(replica, limits), nowMs: steadyClock() };
}

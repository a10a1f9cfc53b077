import { ALLOW_ALL, type Policy } from '../../core/policy.ts';
import { steadyClock } from '../../core/token.ts';
import type { Settings } from '../../core/settings.ts';
import { SuspendedCalls } from './suspended-calls.ts';
import type { Sealer } from '../ports/sealer.ts';

/** What calls need that outlasts each of them. */
export interface CallDeps {
  readonly policy: Policy;
  readonly sealer: Sealer;
  readonly suspended: SuspendedCalls;
  /** The clock by which sealed states expire. */
  readonly nowMs: () => number;
}

export interface CallDepsOptions {
  readonly sealer: Sealer;
  /** Names this process among all that clients may reach. */
  readonly replica: string;
  readonly limits: Settings;
  /** Everything is allowed where none is given. */
  readonly policy?: Policy | undefined;
}

export function callDeps({ sealer, replica, limits, policy = ALLOW_ALL }: CallDepsOptions): CallDeps {
  return { policy, sealer, suspended: new SuspendedCalls(replica, limits), nowMs: steadyClock() };
}

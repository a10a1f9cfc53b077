import { NO_POLICY, type Policy } from '../../core/policy/policy.ts';
import { steadyClock } from '../../core/token.ts';
import type { Settings } from '../../core/settings.ts';
import { SuspendedCalls } from './suspended-calls.ts';
import type { Sealer } from '../ports/sealing.ts';

/** The policy in force. Editing rules or preferences replaces it. */
export interface LivePolicy {
  readonly current: Policy;
  /** What calls must wait for, as decisions are never made on remembered data. */
  readonly pending?: Promise<unknown> | undefined;
}

/** Shared dependencies of calls. */
export interface CallDeps {
  readonly policy: LivePolicy;
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
  /** Defaults to deciding nothing. */
  readonly policy?: LivePolicy | undefined;
}

export function callDeps({ sealer, replica, limits, policy = UNDECIDED }: CallDepsOptions): CallDeps {
  return { policy, sealer, suspended: new SuspendedCalls(replica, limits), nowMs: steadyClock() };
}

const UNDECIDED: LivePolicy = { current: NO_POLICY };

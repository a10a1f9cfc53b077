import { steadyClock } from '../../core/token.ts';
import type { Settings } from '../../core/settings.ts';
import { SuspendedCalls } from './suspended-calls.ts';
import type { Sealer } from '../ports/sealer.ts';

/** What is needed where servers ask something in the middle of a call. */
export interface Asking {
  readonly sealer: Sealer;
  readonly suspended: SuspendedCalls;
  /** By which what was sealed expires. */
  readonly nowMs: () => number;
}

export interface AskingDeps {
  readonly sealer: Sealer;
  /** Names this process among all that clients may reach. */
  readonly replica: string;
  readonly limits: Settings;
}

export function openAsking({ sealer, replica, limits }: AskingDeps): Asking {
  return { sealer, suspended: new SuspendedCalls(replica, limits), nowMs: steadyClock() };
}

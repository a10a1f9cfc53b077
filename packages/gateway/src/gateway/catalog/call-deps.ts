import type { HidingRules } from '../../core/policy/hidden-tools.ts';
import type { FindStop, Stop } from '../../core/stops.ts';
import { NO_LABELS, NO_POLICY, type Policy, type SessionLabel } from '../../core/policy/policy.ts';
import type { Identity } from '../../core/subject.ts';
import { createSteadyClock } from '../../core/token.ts';
import type { Settings } from '../../core/settings.ts';
import type { Approvals } from './approvals.ts';
import { ApprovedRepeats } from './approved-repeats.ts';
import { ResultCache } from './result-cache.ts';
import type { StoredResults } from './stored-results.ts';
import { type SuspendedCallLimits, SuspendedCalls } from './suspended-calls.ts';
import type { CallLog } from '../ports/call-log.ts';
import type { Gate } from '../ports/gate.ts';
import type { Log } from '../ports/log.ts';
import type { Sealer, TaskAccess } from '../ports/sealing.ts';
import type { Telemetry } from '../ports/telemetry.ts';

/** The policy in force. Editing rules or preferences replaces it. */
export interface LivePolicy {
  readonly current: Policy;
  /** The policy with the preferences of the caller's token. Absent: the same policy for all callers. */
  readonly of?: ((identity: Identity) => Policy) | undefined;
  /** What the rules hide from a caller. Absent: nothing. While the store cannot be read, the last known rules count. */
  readonly hidden?: HidingRules | undefined;
  /** What an operator has stopped, as last known. Absent: nothing. */
  readonly findStop?: FindStop | undefined;
  /** The same as a list. */
  readonly stops?: readonly Stop[] | undefined;
  /** Calls back when what is hidden may have changed. */
  readonly onRules?: ((listener: () => void) => void) | undefined;
  /** Calls must wait for this: decisions are never made on remembered data. */
  readonly pending?: Promise<unknown> | undefined;
}

/** Options for retries. */
export interface Retries {
  /** Maximum number of retries of a call that may be repeated. */
  readonly max: number;
  /** A number from 0 to 1. */
  readonly chance: () => number;
  readonly log: Pick<Log, 'debug'> | undefined;
}

/** What each subject has seen. */
export interface LiveLabels {
  /** As known in this process. */
  of(subject: string): ReadonlySet<SessionLabel>;
  /** As in the store. Both labels if it cannot be read. */
  read(subject: string): Promise<ReadonlySet<SessionLabel>>;
  /** Records that the subject is not idle. `matters`: also for one whose labels, if any, are not known here. */
  calls(subject: string, matters: boolean): void;
  /** Resolves when new labels were written, if that is possible now. Undefined if the subject has them all. */
  add(subject: string, labels: ReadonlySet<SessionLabel>, source: string): Promise<void> | undefined;
}

/** What the relay needs for all calls. */
export interface RelayDeps {
  readonly policy: LivePolicy;
  readonly labels: LiveLabels;
  /** Undefined: calls are not recorded here. */
  readonly callLog?: CallLog | undefined;
  /** Undefined where calls never need approval. */
  readonly approvals: Approvals | undefined;
  readonly sealer: Sealer;
  readonly suspended: SuspendedCalls;
  /** Calls that their clients may repeat without another approval. */
  readonly repeats: ApprovedRepeats;
  readonly retries: Retries;
  readonly results: ResultCache;
  /** Undefined: large results are cut without a link to the whole. */
  readonly storedResults?: StoredResults | undefined;
  readonly tokens: CallerTokens;
  readonly telemetry?: Telemetry | undefined;
  /** Undefined: tasks are not offered. */
  readonly tasks?: TaskAccess | undefined;
  /** Clock for the expiry of sealed states. */
  readonly nowMs: () => number;
}

/** The tokens of callers. */
export interface CallerTokens {
  /** Set once there is one. Undefined where callers need no token, as over stdio. */
  gate: Pick<Gate, 'isHolder' | 'refresh'> | undefined;
}

export interface RelayDepsOptions extends Pick<RelayDeps, 'telemetry' | 'tasks' | 'storedResults'> {
  readonly sealer: Sealer;
  /** Identifies this process among all replicas that clients may reach. */
  readonly replica: string;
  readonly limits: Settings & SuspendedCallLimits;
  /** Defaults to deciding nothing. */
  readonly policy?: LivePolicy | undefined;
  /** Defaults to no labels. */
  readonly labels?: LiveLabels | undefined;
  readonly callLog?: CallLog | undefined;
  /** Defaults to `Math.random` and no log. */
  readonly retries?: Partial<Omit<Retries, 'max'>>;
  readonly approvals?: Approvals | undefined;
}

export function relayDeps({
  sealer,
  replica,
  limits,
  policy = UNDECIDED,
  labels = UNLABELLED,
  callLog,
  retries,
  approvals,
  telemetry,
  tasks,
  storedResults,
}: RelayDepsOptions): RelayDeps {
  return {
    policy,
    labels,
    callLog,
    approvals,
    telemetry,
    tasks,
    storedResults,
    sealer,
    suspended: new SuspendedCalls(replica, limits),
    repeats: new ApprovedRepeats(() => performance.now()),
    retries: { chance: Math.random, log: undefined, ...retries, max: limits['limits.retries'] },
    results: new ResultCache({ limits, nowMs: () => performance.now() }),
    tokens: { gate: undefined },
    nowMs: createSteadyClock(),
  };
}

const UNDECIDED: LivePolicy = { current: NO_POLICY };

const UNLABELLED: LiveLabels = {
  of: () => NO_LABELS,
  read: () => Promise.resolve(NO_LABELS),
  calls: () => undefined,
  add: () => undefined,
};

import type { Hint } from '../hint.ts';
import type { JsonObject } from '../json-object.ts';

/**
 * What was observed about one hint of one tool. `consistent` and `contradicted` are about a value that promises
 * something (read-only, not destructive, idempotent, closed world); `supported` and `not_exercised` about the cautious
 * value, which promises nothing. None of them says that a tool is safe.
 */
export type Verdict =
  | { readonly kind: 'contradicted'; readonly evidence: readonly Evidence[] }
  /** `shapes`: number of structurally different arguments among these successful calls. */
  | { readonly kind: 'consistent'; readonly calls: number; readonly shapes: number }
  | { readonly kind: 'supported'; readonly evidence: readonly Evidence[] }
  | { readonly kind: 'not_exercised' }
  /** A read-only tool changes nothing, so `destructiveHint` and `idempotentHint` have no meaning. */
  | { readonly kind: 'not_applicable' }
  | { readonly kind: 'unobserved'; readonly reason: UnobservedReason };

export type VerdictKind = Verdict['kind'];

export type UnobservedReason =
  /** The fixtures file says never to call the tool. */
  | 'skipped'
  | 'no_arguments'
  | 'no_successful_call'
  | 'time_limit'
  | 'server_failed'
  /** A mechanism that could have shown a contradiction was not active on this machine. */
  | 'mechanism_missing'
  /** More happened than could be recorded within the limits. */
  | 'incomplete'
  /** A change cannot be classified, such as one of a file that is too large. */
  | 'unclear_change'
  /** Files were written, but no change can be seen: they may have been restored. */
  | 'unseen_change'
  /** It tried to reach a service of this machine, whose effects cannot be seen. */
  | 'local_service'
  /** It tried to act on processes, shared memory or the system outside the sandbox, whose state cannot be seen. */
  | 'hidden_target'
  /** Nothing changed, so that a hint on changes was not put to the test. */
  | 'no_effect'
  /** Something changed after several tools had been called in one server, but not after any of them alone. */
  | 'unattributed_change'
  /** The same effects also happen without a call, so it is unknown whether a call caused them. */
  | 'background_change';

/** One observed effect of one call. */
export interface Evidence {
  readonly effect: EffectKind;
  /** Such as `deleted /data/notes.txt`. Must be escaped before printing. */
  readonly message: string;
  /** Number of the call with these arguments, from 1. */
  readonly call: number;
  readonly args: JsonObject;
  /** Epoch time in ms. */
  readonly atMs: number;
  /** File, address or host. */
  readonly target: string;
}

export type EffectKind =
  /** No existing data is lost. */
  | 'added'
  | 'deleted'
  /** Existing data is changed or lost. */
  | 'overwritten'
  | 'moved'
  /** Created and deleted again, or replaced by the same content. */
  | 'transient'
  /** Bytes were written, but no change can be seen. Neither supports nor contradicts a hint. */
  | 'rewritten'
  /** An attempt to reach a service of this machine through a Unix socket. What that would have done is unknown. */
  | 'service'
  /**
   * An attempt to act on another process, on memory that other programs share, or on the system. What that would have
   * done is unknown.
   */
  | 'hidden'
  /** Permissions, times or extended attributes changed, or a change that cannot be classified. */
  | 'changed'
  /** Data that other tools return changed, and no file. */
  | 'memory'
  | 'network';

export type Signal =
  /**
   * Repeated calls return different results, but a new process returns the same as the first one. `isJudged`: instead,
   * other tools return different data after its calls, which contradicts `readOnlyHint`.
   */
  | { readonly kind: 'in_process_state'; readonly isJudged: boolean }
  /** A new process returns different results too: a clock, randomness, or a process id. */
  | { readonly kind: 'nondeterministic' }
  /** Changes of a class that well-behaved servers also make. */
  | {
      readonly kind: 'noise';
      readonly noise: string;
      readonly count: number;
      readonly paths: readonly string[];
    }
  /** Connections within the machine; what listens there may lead outside. */
  | { readonly kind: 'local_connection'; readonly targets: readonly string[] }
  | { readonly kind: 'secret_read'; readonly paths: readonly string[]; readonly isCanary: boolean }
  | { readonly kind: 'program'; readonly paths: readonly string[] }
  /** Attempts that failed, such as a write without permission. */
  | { readonly kind: 'failed_attempt'; readonly count: number; readonly message: readonly string[] }
  | { readonly kind: 'privileged'; readonly calls: readonly string[] }
  /** The tool changes state after returning its result. */
  | { readonly kind: 'late_change' }
  /** The declared value promises less than the tool seems to do. */
  | { readonly kind: 'over_declared'; readonly hint: Hint };

/** The verdicts on a tool's hints from all trials. */
export interface ToolReport {
  readonly name: string;
  /** SHA-256 of the definition's canonical JSON. */
  readonly digest: string;
  /** As declared; absent hints have the specification's defaults. */
  readonly declared: Readonly<Partial<Record<Hint, boolean>>>;
  readonly verdicts: Readonly<Record<Hint, Verdict>>;
  readonly signals: readonly Signal[];
  readonly coverage: ToolCoverage;
  /** The most frequent answer, if no call succeeded. */
  readonly failure?: string;
  /** What was tried, in order, if that was requested. */
  readonly attempts?: readonly ToolAttempt[];
}

/** Equal calls of a tool. */
export interface ToolAttempt {
  readonly args: JsonObject;
  /** Tools that were called before, since a value of their results is needed. */
  readonly after: readonly string[];
  readonly calls: number;
  readonly isSuccess: boolean;
  /** The start of the first answer. Must be escaped before printing. */
  readonly answer: string;
}

export interface ToolCoverage {
  readonly calls: number;
  readonly successfulCalls: number;
  /** Distinct shapes of arguments among successful calls. */
  readonly shapes: number;
  /** Where the arguments of the successful calls came from. */
  readonly origins: readonly string[];
}

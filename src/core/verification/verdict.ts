import type { Hint } from '../hints/hint.ts';
import type { JsonObject } from '../json-object.ts';

/**
 * What was observed of one hint of one tool. `consistent` and `contradicted` are about a value that promises something
 * (read-only, not destructive, idempotent, closed world); `supported` and `not_exercised` about the cautious value, which
 * promises nothing. None of them says that a tool is safe.
 */
export type Verdict =
  | { readonly kind: 'contradicted'; readonly evidence: readonly Evidence[] }
  /** `shapes`: number of structurally different arguments among these successful calls. */
  | { readonly kind: 'consistent'; readonly calls: number; readonly shapes: number }
  | { readonly kind: 'supported'; readonly evidence: readonly Evidence[] }
  | { readonly kind: 'not_exercised' }
  /** A read-only tool changes nothing, so that `destructiveHint` and `idempotentHint` have no meaning. */
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
  /** What could have shown a contradiction was not active on this machine. */
  | 'mechanism_missing'
  /** More happened than a limit allows to record. */
  | 'incomplete'
  /** A change cannot be classified, such as one of a file that is too large. */
  | 'unclear_change'
  /** What happened during calls happens without one, too, so that it is not known whether a call did the same. */
  | 'background_change';

/** One observed effect of one call. */
export interface Evidence {
  readonly effect: EffectKind;
  /** Such as `deleted /data/notes.txt`. Printable once escaped. */
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
  /** Nothing that was there is lost. */
  | 'added'
  | 'deleted'
  /** What was there is changed or lost. */
  | 'overwritten'
  | 'moved'
  /** Created and deleted again, or replaced by the same content. */
  | 'transient'
  /** Permissions changed, or a change that cannot be classified. */
  | 'changed'
  | 'network';

export type Signal =
  /** Repeated calls answer differently, but a new process answers as the first one did. */
  | { readonly kind: 'in_process_state' }
  /** A new process answers differently, too: a clock, randomness, or a process id. */
  | { readonly kind: 'nondeterministic' }
  /** Changes of a class that well-behaved servers make, too. */
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
  /** The tool changes state after it has answered. */
  | { readonly kind: 'late_change' }
  /** The value promises less than the tool seems to keep. */
  | { readonly kind: 'over_declared'; readonly hint: Hint };

/** What all trials of one tool say about its hints. */
export interface ToolReport {
  readonly name: string;
  /** SHA-256 of the definition's canonical JSON. */
  readonly digest: string;
  /** As declared; absent hints have the specification's defaults. */
  readonly declared: Readonly<Partial<Record<Hint, boolean>>>;
  readonly verdicts: Readonly<Record<Hint, Verdict>>;
  readonly signals: readonly Signal[];
  readonly coverage: ToolCoverage;
  /** What the last failed call said, if none succeeded. */
  readonly failure?: string;
}

export interface ToolCoverage {
  readonly calls: number;
  readonly successfulCalls: number;
  /** Distinct shapes of arguments among successful calls. */
  readonly shapes: number;
  /** Where the arguments of the successful calls came from. */
  readonly origins: readonly string[];
}

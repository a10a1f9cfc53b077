import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Origin } from '../arguments/generate-value.ts';
import type { UnobservedReason } from '@assay-mcp/kit/verification/verdict';
import type { Mechanism, Observation } from '@assay-mcp/sandbox/observation';
import type { Effect } from './effect.ts';
import type { Background } from './effects.ts';

/** How a server answered one call. */
export type Answer =
  /** `digest`: of the result without its `_meta`. `text`: the start of the result. */
  | { readonly kind: 'result'; readonly isError: boolean; readonly digest: string; readonly text: string }
  /** A JSON-RPC error, no answer in time, or the end of the process. */
  | { readonly kind: 'failed'; readonly reason: 'error' | 'timeout' | 'ended'; readonly text: string };

/** Identical calls in one sandbox, and the effects of each. */
export interface Trial {
  readonly args: JsonObject;
  readonly origin: Origin;
  readonly shape: string;
  /** Effects without a call. */
  readonly control: Observation;
  /** What the start of its process changes but had not yet changed before the first call. */
  readonly pending: ReadonlySet<string>;
  readonly calls: readonly TrialCall[];
  /** Effects after the last call had settled. */
  readonly late: Observation;
  /** Effects after the server was asked to end; undefined if it had ended before, or if another trial followed. */
  readonly end: Observation | undefined;
  /** The same of a server whose tools were not called, if `end` shows effects. Undefined if it did not start. */
  readonly endWithoutCall: Observation | undefined;
  /** The first answer of a new process in a new sandbox, if the calls above were answered differently. */
  readonly replay: Answer | undefined;
}

export interface TrialCall {
  /** From 1. */
  readonly number: number;
  readonly atMs: number;
  readonly answer: Answer;
  readonly observation: Observation;
}

export interface Trials {
  readonly trials: readonly Trial[];
  /** Answers to the calls with which arguments were sought. */
  readonly sought?: readonly Answer[];
  readonly background: Background;
  readonly mechanisms: readonly Mechanism[];
  /** Folder of the seed data, as the server sees it. */
  readonly seed: string;
  /** Why it is unknown whether the tool has effects long after a call. */
  readonly unwatched: UnobservedReason | undefined;
  /** Why there is no trial, or why some planned ones are missing. */
  readonly stopped: UnobservedReason | undefined;
}

/** An effect, with the call that caused it. */
export interface CallEffect extends Effect {
  readonly trial: Trial;
  /** Number of the call in its trial. */
  readonly call: number;
  /** Whether it came after the tool had answered and its observation had ended. */
  readonly isLate: boolean;
  /** Whether it came after the server was asked to end. */
  readonly isAtEnd: boolean;
}

/** The observation of a time in which nothing happened, or that was not watched apart from the next. */
export const NOTHING: Observation = {
  ...{ sinceMs: 0, untilMs: 0, mechanisms: [], changes: [], events: [], network: [] },
  ...{ incomplete: [], mapped: [] },
};

export function isSuccess(answer: Answer): boolean {
  return answer.kind === 'result' && !answer.isError;
}

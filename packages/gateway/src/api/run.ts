import type { Approval } from './approval.ts';
import type { ProblemEvent } from './problem.ts';

/** Server-sent events of a run, by name. The last one is `result`, `error` or `refused`. */
export interface RunEvents {
  readonly progress: { readonly progress?: unknown; readonly total?: unknown; readonly message?: unknown };
  readonly log: { readonly level?: unknown; readonly logger?: unknown; readonly data?: unknown };
  /** The call waits for approval. */
  readonly approval: Approval;
  /** This many progress and log messages were dropped because the reader was slow. */
  readonly dropped: { readonly count: number };
  /** The result as its server sent it. */
  readonly result: Readonly<Record<string, unknown>>;
  /** The JSON-RPC error of the server. */
  readonly error: Readonly<Record<string, unknown>>;
  /** Assay did not send the call, or got no answer. */
  readonly refused: ProblemEvent;
}

export type RunEvent = {
  readonly [Name in keyof RunEvents]: { readonly name: Name; readonly data: RunEvents[Name] };
}[keyof RunEvents];

import type { HintName } from './hint.ts';
import type { ProblemView } from './problem.ts';

/** Server-sent events of a verification, by name. The last one is `result` or `refused`. */
export interface VerificationEvents {
  /** A tool was verified. */
  readonly progress: { readonly done: number; readonly total: number; readonly tool: string };
  readonly result: VerificationResult;
  readonly refused: Pick<ProblemView, 'title' | 'status' | 'detail' | 'code'>;
}

export interface VerificationResult {
  readonly server: string;
  readonly tools: number;
  readonly toolsWithSuccess: number;
  readonly calls: number;
  readonly mechanisms: readonly string[];
  /** By the server's own names. */
  readonly contradictions: readonly {
    readonly tool: string;
    readonly hint: HintName;
    /** The first effect. */
    readonly message: string;
  }[];
}

/** What verifications observed about a tool. */
export interface ToolVerification {
  /** Whether it is about the current definition. Otherwise it has no effect on decisions. */
  readonly isCurrent: boolean;
  readonly at: string;
  readonly by: string;
  readonly server: { readonly name: string; readonly version: string };
  readonly mechanisms: readonly string[];
  readonly hints: Readonly<Partial<Record<HintName, ObservedHint>>>;
}

export interface ObservedHint {
  readonly verdict:
    'contradicted' | 'consistent' | 'supported' | 'not_exercised' | 'not_applicable' | 'unobserved';
  readonly at: string;
  readonly calls?: number;
  readonly shapes?: number;
  /** Why there is no verdict. */
  readonly reason?: string;
  readonly evidence?: readonly ObservedEffect[];
}

export interface ObservedEffect {
  readonly message: string;
  /** Number of the call with these arguments. */
  readonly call: number;
  /** JSON text, or its start. */
  readonly args: string;
  readonly at: string;
}

import type { Result } from '../../core/result.ts';
import type { VerifyReport } from '../../core/verification/report.ts';

export interface VerifierPort {
  /** Loads the verifier of hints, a program of its own. */
  openVerifier(): Promise<VerifierProgram>;
}

/** The verifier of hints in this process. */
export interface VerifierProgram {
  readonly verify: (request: VerifyRequest) => Promise<Result<VerifyReport, VerifyFault>>;
  /** The text of a fixtures file to fill in. */
  readonly draftFixtures: (request: VerifyRequest) => Promise<Result<string, VerifyFault>>;
  readonly formats: {
    readonly sarif: (report: VerifyReport, version: string) => string;
    readonly junit: (report: VerifyReport) => string;
    readonly markdown: (report: VerifyReport) => string;
  };
}

/** See src/verify/program.ts. */
export interface VerifyRequest {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ownEnv: Readonly<Record<string, string | undefined>>;
  readonly fixtures: string | undefined;
  readonly baseline: string | undefined;
  readonly tools: readonly string[];
  readonly limits: {
    readonly timeMs: number;
    readonly callMs: number;
    readonly sets: number;
    readonly repeats: number;
  };
  readonly signal: AbortSignal;
  readonly onProgress: (progress: {
    readonly done: number;
    readonly total: number;
    readonly tool: string;
  }) => void;
}

export type VerifyFault =
  | {
      readonly code: 'FIXTURES_INVALID' | 'BASELINE_INVALID';
      readonly file: string;
      readonly field: string;
      readonly problem: string;
    }
  | { readonly code: 'FILE_UNREADABLE'; readonly file: string; readonly problem: string }
  | { readonly code: 'SERVER_FAILED'; readonly says: string }
  | {
      readonly code: 'SANDBOX_UNAVAILABLE';
      readonly missing: readonly { readonly why: string; readonly install: string }[];
    }
  | { readonly code: 'TOOL_UNKNOWN'; readonly name: string; readonly known: readonly string[] };

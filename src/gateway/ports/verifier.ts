import type { JsonObject } from '../../core/json-object.ts';
import type { Result } from '../../core/result.ts';
import type { VerifyReport } from '../../core/verification/report.ts';
import type { VerifyFault } from '../../core/verification/verify-fault.ts';

/** Loads the verifier of hints, which is a separate program. */
export type OpenVerifier = () => Promise<VerifierProgram>;

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
export interface VerifyRequest extends VerifyTarget {
  /** Variables of this process: PATH is searched for the command. */
  readonly ownEnv: Readonly<Record<string, string | undefined>>;
  /** Path of the fixtures file. */
  readonly fixtures: string | undefined;
  /** Path of the baseline file. */
  readonly baseline: string | undefined;
  /** The tools to verify; empty: all. */
  readonly tools: readonly string[];
  /** Arguments of real calls, by tool. */
  readonly recorded: ReadonlyMap<string, readonly JsonObject[]>;
  readonly limits: VerifyLimits;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: VerifyProgress) => void;
}

/** How the server is started. */
export interface VerifyTarget {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface VerifyLimits {
  /** Time limit for the whole run, in ms. */
  readonly timeMs: number;
  /** Time limit for one call, in ms. */
  readonly callMs: number;
  /** Number of different sets of arguments per tool. */
  readonly sets: number;
  /** Number of identical calls with each set. */
  readonly repeats: number;
}

export interface VerifyProgress {
  readonly done: number;
  readonly total: number;
  readonly tool: string;
}

/** Verifies a server with its own fixtures file, if there is one, and the default limits. */
export type VerifyServer = (
  target: VerifyTarget,
  run: Pick<VerifyRequest, 'signal' | 'onProgress' | 'recorded'>,
) => Promise<Result<VerifyReport, VerifyFault>>;

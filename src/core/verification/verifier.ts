import type { JsonObject } from '../json-object.ts';
import type { Result } from '../result.ts';
import type { VerifyReport } from './report.ts';
import type { VerifyFault } from './verify-fault.ts';

/** The verifier of hints in this process. */
export interface VerifierProgram {
  /** Calls the tools of a server in sandboxes and judges their hints. */
  readonly verify: (request: VerifyRequest) => Promise<Result<VerifyReport, VerifyFault>>;
  /** The text of a fixtures file to fill in, with the arguments that would be used. */
  readonly draftFixtures: (request: VerifyRequest) => Promise<Result<string, VerifyFault>>;
  readonly formats: ReportFormats;
}

/** Report formats for other programs. `version`: that of Assay. `uri`: the file that SARIF results refer to. */
export interface ReportFormats {
  readonly sarif: (report: VerifyReport, version: string, uri?: string) => string;
  readonly junit: (report: VerifyReport) => string;
  readonly markdown: (report: VerifyReport) => string;
}

/** How the server is started. */
export interface VerifyTarget {
  /** In it and in `env`, `{seed}` stands for the folder of the seed data. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface VerifyRequest extends VerifyTarget {
  /** Variables of this process: PATH is searched for the command. */
  readonly ownEnv: Readonly<Record<string, string | undefined>>;
  /** Path of the fixtures file. */
  readonly fixtures: string | undefined;
  /** Path of the baseline file. */
  readonly baseline: string | undefined;
  /** The tools to verify; empty: all. */
  readonly tools: readonly string[];
  /** Arguments of real calls, by tool. They are tried first, in addition to `limits.sets`. */
  readonly recorded: ReadonlyMap<string, readonly JsonObject[]>;
  readonly limits: VerifyLimits;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: VerifyProgress) => void;
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

import type { JsonObject } from '../json-object.ts';
import type { Result } from '../result.ts';
import type { VerifyReport } from './report.ts';
import type { VerifyFault } from './verify-fault.ts';

/** The module of the package assay-verify that Assay loads. */
export interface VerifierProgram {
  /** Verifies a server in a thread, with its own fixtures file, if there is one, and the default limits. */
  readonly verifyInThread: (
    target: VerifyTarget,
    run: VerifyRun,
  ) => Promise<Result<VerifyReport, VerifyFault>>;
  /** Verifies a server, prints the report and resolves with the exit code (docs/VERIFY.md). */
  readonly runVerification: (wanted: WantedVerification, options: VerifyOptions) => Promise<number>;
}

/** How the server is started. */
export interface VerifyTarget {
  /** In it and in `env`, `{seed}` stands for the folder of the seed data. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface VerifyRun {
  /** Arguments of real calls, by tool. They are tried first, in addition to other sets of arguments. */
  readonly recorded: ReadonlyMap<string, readonly JsonObject[]>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: VerifyProgress) => void;
}

export interface VerifyProgress {
  readonly done: number;
  readonly total: number;
  readonly tool: string;
}

export interface WantedVerification {
  readonly target: VerifyTarget;
  readonly recorded?: VerifyRun['recorded'] | undefined;
  /** Stores the report of a complete run; resolves with an exit code if that fails. */
  readonly keep?: (report: VerifyReport) => Promise<number | undefined>;
  /** The program that the user started, for error messages. */
  readonly program: 'assay' | 'assay-verify';
}

/** The options of a verification on the command line. */
export interface VerifyOptions {
  readonly tool?: readonly string[];
  readonly env?: readonly string[];
  readonly fixtures?: string;
  readonly init?: boolean;
  readonly baseline?: string;
  readonly updateBaseline?: boolean;
  /** The smallest share of tools that must make a successful call; true: all. */
  readonly requireObserved?: number | true;
  readonly sets: number;
  readonly repeats: number;
  readonly callLimit: number;
  readonly timeLimit: number;
  readonly format?: VerifyFormat;
  readonly json?: boolean;
  readonly report?: readonly string[];
  /** Tools of which each attempt is printed. */
  readonly explain?: readonly string[];
  /** Path of a fixtures file to write. */
  readonly writeFixtures?: string;
}

export type VerifyFormat = 'table' | 'json' | 'sarif' | 'junit' | 'markdown' | 'github';

import type { GitHead } from '../files/git-head.ts';
import type { SkipCounts, SkippedFile } from '../files/skip-reason.ts';

export type RunStatus = 'success' | 'partial' | 'failed';

/** The content of `repositories.last_run`: the last run that ended, as `index_status` shows it. */
export interface RunRecord {
  readonly ended_at: string;
  readonly duration_seconds: number;
  readonly status: RunStatus;
  /** The first errors. */
  readonly errors: readonly string[];
  readonly skipped: SkipCounts;
  /** Absent in the records of older versions. */
  readonly skipped_largest?: readonly SkippedFile[] | undefined;
  /** What was checked out when the run began; absent if the repository is not a working tree of git. */
  readonly git?: GitHead | undefined;
}

/** Undefined if no run has ended. Throws if `writeRunRecord` did not write the text, which is a bug. */
export function readRunRecord(text: string | null): RunRecord | undefined {
  return text === null ? undefined : (JSON.parse(text) as RunRecord); // Written only by `writeRunRecord`.
}

export function writeRunRecord(record: RunRecord): string {
  return JSON.stringify({ ...record, errors: record.errors.slice(0, MAX_ERRORS) });
}

const MAX_ERRORS = 10;

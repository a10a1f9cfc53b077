import type { SkipCounts } from '../files/skip-reason.ts';

export type RunStatus = 'success' | 'partial' | 'failed';

/** What `repositories.last_run` tells of the last run that ended, as `index_status` shows it. */
export interface RunRecord {
  readonly ended_at: string;
  readonly duration_seconds: number;
  readonly status: RunStatus;
  /** The first errors. */
  readonly errors: readonly string[];
  readonly skipped: SkipCounts;
}

/** Undefined if no run has ended. Throws if the text is not what `writeRunRecord` gives, which is a bug. */
export function readRunRecord(text: string | null): RunRecord | undefined {
  return text === null ? undefined : (JSON.parse(text) as RunRecord); // written by `writeRunRecord` alone
}

export function writeRunRecord(record: RunRecord): string {
  return JSON.stringify({ ...record, errors: record.errors.slice(0, MAX_ERRORS) });
}

const MAX_ERRORS = 10;

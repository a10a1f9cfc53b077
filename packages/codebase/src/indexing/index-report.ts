import type { SkipCounts, SkippedFile, SkipReason } from '../files/skip-reason.ts';
import type { RunStatus } from '../store/run-record.ts';

/** The result of `index_repository`, as on the wire. */
export interface IndexReport {
  /** A UUID, the same in each run. */
  readonly repository_id: string;
  /** Files that were new or changed, and were indexed by this run. */
  readonly files_indexed: number;
  readonly chunks_created: number;
  /** Files that left the index because they are gone or ignored now. */
  readonly files_deleted: number;
  /** Files in the index, from this and earlier runs. */
  readonly files_total: number;
  /** Files and directories that were left out, by reason. */
  readonly skipped: SkipCounts;
  /** The largest of these files, largest first, but for those that are left out by name. */
  readonly skipped_largest: readonly SkippedFile[];
  readonly duration_seconds: number;
  /** `partial`: some files could not be read; the rest is indexed. `failed`: there was nothing to index. */
  readonly status: RunStatus;
  readonly errors: readonly string[];
}

/** Maximum number of directories that one process watches. */
export const MAX_WATCHED_FOLDERS = 20_000;

export type IndexPhase = 'waiting' | 'scanning' | 'reading' | 'writing' | 'embedding';

export interface IndexProgress {
  readonly phase: IndexPhase;
  readonly done: number;
  /** Absent while it is not known. */
  readonly total?: number | undefined;
}

/** Maximum number of errors listed individually. */
const MAX_ERRORS = 50;

/** Collects error texts up to a limit, and counts the rest. */
export class ErrorList {
  readonly #texts: string[] = [];
  #count = 0;

  add(text: string): void {
    this.#count += 1;
    if (this.#texts.length < MAX_ERRORS) this.#texts.push(text);
  }

  get count(): number {
    return this.#count;
  }

  texts(): readonly string[] {
    const more = this.#count - this.#texts.length;
    return more === 0 ? this.#texts : [...this.#texts, `and ${more} more`];
  }
}

/** Why there is nothing to index. */
export function formatNothingFound(path: string, skipped: SkipCounts): string {
  const parts = Object.entries(skipped).map(
    ([reason, count]) => `${count} ${SKIP_TEXTS[reason as SkipReason]}`, // Its keys are reasons.
  );
  const why =
    parts.length === 0
      ? 'the directory is empty'
      : `all of its entries were skipped (${parts.join(', ')}; a skipped directory counts once)`;
  return `No files to index in ${JSON.stringify(path)}: ${why}.`;
}

const SKIP_TEXTS: Readonly<Record<SkipReason, string>> = {
  ignored: 'matched by .gitignore, .mcpignore or .git/info/exclude',
  default: 'skipped by default, such as node_modules and lock files',
  protected: 'with keys, credentials or data of Assay',
  binary: 'binary',
  minified: 'minified',
  too_large: 'too large',
  symlink: 'symbolic links',
  special_file: 'not regular files',
  unreadable: 'unreadable',
  unusual_name: 'with control characters in their names',
  changing: 'changing while they were read',
  failed: 'that could not be cut into chunks',
  limit: 'beyond the limit of files or directory depth',
};

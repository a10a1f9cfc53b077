import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { readToChunk } from '../chunks/chunk-source.ts';
import type { GitHead } from '../files/git-head.ts';
import type { WalkResult } from '../files/walk-repository.ts';
import { IndexWriter, type RepositoryRow } from '../store/index-writer.ts';
import { readRunRecord } from '../store/run-record.ts';
import { type FileToRead, planRun } from './index-run.ts';

export interface FindChangesOptions {
  readonly database: Database;
  readonly repository: RepositoryRow;
  readonly walked: WalkResult;
  /** What is checked out now. */
  readonly head: GitHead | undefined;
  readonly chunkerVersion: number;
  readonly maxFileBytes: number;
}

/** Files that are compared by their content. With more of them, a run is due in any case, which notes their stamps. */
const MAX_COMPARED = 200;

/**
 * Whether a background run would change what is indexed of a repository. Only reads, so that watching a repository that
 * does not change writes nothing. `removed`: the index no longer has it.
 */
export function findChanges(options: FindChangesOptions): 'changed' | 'unchanged' | 'removed' {
  const { database, repository, walked, head, chunkerVersion, maxFileBytes } = options;
  const row = database
    .prepare(
      'SELECT chunker_version AS version, last_run FROM repositories WHERE id = ? AND indexed_at IS NOT NULL',
    )
    .get(repository.id) as { version: number; last_run: string | null } | undefined;
  if (row === undefined) return 'removed';
  // A disk that is not mounted, or a working tree in the middle of a change: only a call empties an index.
  if (walked.files.length === 0) return 'unchanged';
  // Of two versions of Assay that run beside each other, the older one leaves the index as it is.
  if (row.version !== chunkerVersion) return row.version < chunkerVersion ? 'changed' : 'unchanged';
  const { git } = readRunRecord(row.last_run) ?? {};
  if (head?.branch !== git?.branch || head?.commit !== git?.commit) return 'changed';
  const stored = new IndexWriter(database, repository).storedFiles();
  const { toRead, takenOver, missing } = planRun(walked.files, stored, { readAll: false });
  if (takenOver.length > 0 || missing.length > 0 || toRead.length > MAX_COMPARED) return 'changed';
  return toRead.some((file) => hasChanged(file, maxFileBytes)) ? 'changed' : 'unchanged';
}

/** A stamp says too little of a file that had just changed, and of one that is never indexed because of its content. */
function hasChanged({ file, live }: FileToRead, maxFileBytes: number): boolean {
  const read = readToChunk({ ...file, knownHash: live?.hash }, maxFileBytes);
  if (read.outcome !== 'skipped') return read.outcome === 'readable';
  // A run would keep the former content of a file that cannot be read.
  return live !== undefined && read.reason !== 'unreadable' && read.reason !== 'changing';
}

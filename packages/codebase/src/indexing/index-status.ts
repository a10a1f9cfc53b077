import { statSync } from 'node:fs';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { ok, type Result } from '@assay-mcp/kit/result';
import { countEmbeddedChunks, type EmbeddedChunks } from '../embeddings/vector-tables.ts';
import { getIndexPath } from '../store/index-file.ts';
import { isIndexLocked } from '../store/index-lock.ts';
import type { IndexReader } from '../store/index-reader.ts';
import type { IndexRefusal } from '../store/index-refusal.ts';
import { type GitHead, readGitHead } from '../files/git-head.ts';
import { readEntry } from '../files/read-source.ts';
import { readRunRecord, type RunRecord } from '../store/run-record.ts';
import { SCHEMA_VERSION } from '../store/schema.ts';

/** The state of a repository, as `index_status` shows it. */
export interface RepositoryStatus {
  readonly repository_id: string;
  readonly path: string;
  readonly name: string;
  /** When the last complete run ended; null if none has. */
  readonly indexed_at: string | null;
  readonly files: number;
  readonly chunks: number;
  /** Number of files, most frequent language first. */
  readonly languages: Readonly<Record<string, number>>;
  /** Chunks that can be found by meaning, per embedding model. */
  readonly embedded: readonly EmbeddedChunks[];
  /** Whether the directory does not exist any more. The index still has its files. */
  readonly is_missing: boolean;
  /** What is checked out now; null if it is not a working tree of git. That of the index is in `last_run`. */
  readonly git: GitHead | null;
  /** The last run that ended, even if it failed; null if none has. */
  readonly last_run: RunRecord | null;
}

export interface IndexStatus {
  readonly repositories: readonly RepositoryStatus[];
  /** Whether any process is indexing into this project. */
  readonly is_running: boolean;
  readonly schema_version: number;
  readonly size_bytes: number;
}

/** The state of the index in a folder. NOT_INDEXED if there is none. Only reads. */
export function readIndexStatus(folder: string, reader: IndexReader): Result<IndexStatus, IndexRefusal> {
  const repositories = reader.read(readRepositories);
  if (!repositories.ok) return repositories;
  return ok({
    repositories: repositories.value,
    is_running: isIndexLocked(folder),
    schema_version: SCHEMA_VERSION,
    size_bytes: sizeOf(getIndexPath(folder)),
  });
}

interface RepositoryRow {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly indexed_at: string | null;
  readonly last_run: string | null;
}

interface LanguageRow {
  readonly language: string;
  readonly files: number;
  readonly chunks: number;
}

function readRepositories(database: Database): readonly RepositoryStatus[] {
  const rows = database
    .prepare('SELECT id, path, name, indexed_at, last_run FROM repositories ORDER BY path')
    .all() as RepositoryRow[];
  const languagesOf = database.prepare(
    `SELECT language, count(*) AS files, sum(chunk_count) AS chunks FROM files
     WHERE repository_id = ? AND state = 'live' GROUP BY language ORDER BY files DESC, language`,
  );
  return rows.map(({ id, path, name, indexed_at, last_run }) => {
    const languages = languagesOf.all(id) as LanguageRow[];
    return {
      repository_id: id,
      path,
      name,
      indexed_at,
      files: languages.reduce((sum, { files }) => sum + files, 0),
      chunks: languages.reduce((sum, { chunks }) => sum + chunks, 0),
      languages: Object.fromEntries(languages.map(({ language, files }) => [language, files])),
      embedded: countEmbeddedChunks(database, id),
      is_missing: readEntry(path)?.isDirectory() !== true,
      git: readGitHead(path) ?? null,
      last_run: readRunRecord(last_run) ?? null,
    };
  });
}

/** Includes its write-ahead log. */
function sizeOf(path: string): number {
  return ['', '-wal'].reduce(
    (sum, suffix) => sum + (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { chunkFile } from '../src/chunks/chunk-source.ts';
import { walkRepository } from '../src/files/walk-repository.ts';
import { runIndex, type FileProcessor, type IndexRunOptions } from '../src/indexing/index-run.ts';
import type { IndexReport } from '../src/indexing/index-report.ts';
import { computeRepositoryId } from '../src/store/identifiers.ts';
import { getIndexPath, leaveWal, openForWriting } from '../src/store/index-file.ts';
import { IndexReader } from '../src/store/index-reader.ts';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { readColumn } from '../../../test/support/sqlite.ts';
import { tempDir } from '../../../test/support/paths.ts';

const MAX_FILE_BYTES = 512 * 1024;
/** Trusts file stamps at once, so that a test need not wait until its changes are old enough. */
export const AT_ONCE = -1e12;

/** Cuts files into chunks in this thread. */
export const IN_THREAD: FileProcessor = {
  async *processAll(files, { knownHash, signal }) {
    for (const file of files) {
      signal?.throwIfAborted();
      const { path, absolutePath } = file;
      const job = { id: 1, path, absolutePath, knownHash: knownHash?.(file), mayParse: true };
      yield { file, outcome: await chunkFile(job, MAX_FILE_BYTES) };
    }
  },
};

/** A repository and its index, in new folders. */
export interface IndexedRepository {
  readonly root: string;
  readonly folder: string;
  write(files: Readonly<Record<string, string>>): void;
  remove(path: string): void;
  run(options?: Partial<IndexRunOptions>): Promise<IndexReport>;
  /** Runs with the index open for writing. */
  opened<T>(use: (database: Database) => Promise<T> | T, replaceDamaged?: boolean): Promise<T>;
  /** The live chunks, without the ids of rows. */
  dump(): readonly string[];
  /** The paths of live files whose chunks contain a word. */
  find(word: string): readonly string[];
}

export function makeRepository(files: Readonly<Record<string, string>> = {}): IndexedRepository {
  const root = join(tempDir(), 'repository');
  const folder = join(tempDir(), 'project');
  mkdirSync(root);
  const write: IndexedRepository['write'] = (given) => {
    for (const [path, text] of Object.entries(given)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };
  const opened: IndexedRepository['opened'] = async (use, replaceDamaged = false) => {
    const database = openForWriting(folder, { replaceDamaged });
    if (!database.ok) throw new Error(database.error.code);
    try {
      return await use(database.value);
    } finally {
      leaveWal(database.value, getIndexPath(folder));
      database.value.close();
    }
  };
  write(files);
  return {
    root,
    folder,
    write,
    remove: (path) => rmSync(join(root, path), { recursive: true }),
    run: (options = {}) => opened((database) => runIndex(runOptions(database, root, options))),
    opened,
    dump: () => dumpIndex(folder),
    find: (word) => query(folder, FIND, `"${word}"`),
  };
}

/** Everything in an index that a search can see, without row ids. */
export function dumpIndex(folder: string): readonly string[] {
  return query(folder, DUMP);
}

export function runOptions(
  database: Database,
  root: string,
  options: Partial<IndexRunOptions> = {},
): IndexRunOptions {
  return {
    database,
    repository: { id: computeRepositoryId(root), path: root, name: basename(root) },
    force: false,
    chunkerVersion: 1,
    walk: (from, signal) => walkRepository(from, { maxFileBytes: MAX_FILE_BYTES, signal }),
    processor: IN_THREAD,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    stampMarginMs: AT_ONCE,
    ...options,
  };
}

function query(folder: string, sql: string, ...params: readonly string[]): readonly string[] {
  const reader = new IndexReader(folder);
  const rows = reader.read((database) => readColumn(database, sql, ...params) as readonly string[]);
  reader.close();
  if (!rows.ok) throw new Error(rows.error.code);
  return rows.value;
}

const DUMP = `
SELECT json_array(r.path, f.path, f.language, f.is_test, f.hash, f.chunk_count, c.chunk_id, c.ordinal, c.kind, c.symbol, c.parent,
  c.start_line, c.end_line, c.content_hash, c.content,
  (SELECT count(*) FROM chunk_terms t WHERE t.rowid = c.id))
FROM files f JOIN repositories r ON r.id = f.repository_id LEFT JOIN chunks c ON c.file_id = f.id
WHERE f.state = 'live' ORDER BY r.path, f.path, c.ordinal`;

const FIND = `
SELECT DISTINCT f.path FROM chunk_terms t JOIN chunks c ON c.id = t.rowid JOIN files f ON f.id = c.file_id
WHERE chunk_terms MATCH ? AND f.state = 'live' ORDER BY f.path`;

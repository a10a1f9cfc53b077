import { closeSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { inTransaction, openDatabase, readPragma, type Database } from '@assay-mcp/kit/platform/sqlite';
import type { IndexRefusal } from './index-refusal.ts';
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from './schema.ts';
import { toIndexRefusal } from './sqlite-faults.ts';

const CACHE_KIB = 16_384;
/** WAL size, in pages, at which it is copied into the database; a smaller one would copy and sync too often. */
const CHECKPOINT_PAGES = 4_000;

export function getIndexPath(folder: string): string {
  return join(folder, 'index.db');
}

/**
 * Opens the index in `folder` for its only writer, which must hold the `IndexLock`; creates what is missing. An index of
 * an older version is replaced by an empty one. With `replaceDamaged`, a damaged file is renamed and replaced.
 */
export function openForWriting(
  folder: string,
  { replaceDamaged: mayReplace }: { readonly replaceDamaged: boolean },
): Result<Database, IndexRefusal> {
  const path = getIndexPath(folder);
  const opened = attempt(path, () => openOrCreate(folder, path));
  if (opened.ok || opened.error.code !== 'INDEX_DAMAGED' || !mayReplace) return opened;
  return replaceDamaged(folder);
}

/** Renames the damaged file, and creates an empty index in its place. The caller has closed it and holds the lock. */
export function replaceDamaged(folder: string): Result<Database, IndexRefusal> {
  const path = getIndexPath(folder);
  return attempt(path, () => {
    setAside(path);
    return openOrCreate(folder, path);
  });
}

/** Checks the header of a file. Throws errors of SQLite. */
export function inspect(database: Database, path: string): Result<'current' | 'empty', IndexRefusal> {
  const application = readPragma(database, 'application_id');
  const version = Number(readPragma(database, 'user_version'));
  if (application === APPLICATION_ID) {
    if (version > SCHEMA_VERSION)
      return err({ code: 'INDEX_TOO_NEW', path, found: version, known: SCHEMA_VERSION });
    return version < SCHEMA_VERSION ? err({ code: 'INDEX_OUTDATED', path }) : ok('current');
  }
  const { count } = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as {
    count: number;
  };
  return count === 0 ? ok('empty') : err({ code: 'INDEX_FOREIGN', path });
}

/**
 * While a run writes, the index is in WAL mode: readers continue, and the writer may be killed at any moment. Changing
 * the mode writes one page in place. From MEMORY, SQLite does so without a journal, which after a kill would lock out
 * read-only readers.
 */
export function enterWal(database: Database): void {
  if (readPragma(database, 'journal_mode') === 'wal') return;
  database.exec('PRAGMA journal_mode = MEMORY');
  // Continuing in MEMORY mode could destroy the index.
  if (readPragma(database, 'journal_mode = WAL') !== 'wal')
    throw Object.assign(new Error('The index cannot enter WAL mode.'), { code: 'SQLITE_BUSY' });
}

/**
 * Leaves WAL mode, so that the index is one file, which a reader can use without writing to its directory. Returns
 * false if a reader or a full disk prevents that; the index then stays in WAL mode and usable.
 */
export function leaveWal(database: Database, path: string): boolean {
  try {
    database.exec('PRAGMA busy_timeout = 100');
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('PRAGMA journal_mode = DELETE');
    return true;
  } catch (error) {
    if (toIndexRefusal(error, path) !== undefined) return false;
    throw error;
  }
}

function openOrCreate(folder: string, path: string): Result<Database, IndexRefusal> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // SQLite would create it readable by everyone, and it contains the source code.
  closeSync(openSync(path, 'a', 0o600));
  const database = openDatabase(path, { mode: 'create', allowExtension: true });
  try {
    const found = inspect(database, path);
    if (!found.ok) {
      database.close();
      if (found.error.code !== 'INDEX_OUTDATED') return found;
      for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
      return openOrCreate(folder, path);
    }
    database.exec(
      `PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    );
    if (found.value === 'empty') create(database);
    return ok(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function create(database: Database): void {
  enterWal(database);
  inTransaction(database, () => database.exec(SCHEMA));
}

/** The database file is moved last: a log left behind would be taken for that of the next file. */
function setAside(path: string): void {
  const name = `${path}.damaged-${new Date().toISOString().replaceAll(':', '')}`;
  for (const suffix of ['-wal', '-shm', '-journal', ''])
    try {
      renameSync(path + suffix, name + suffix);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
}

function attempt<T>(path: string, work: () => Result<T, IndexRefusal>): Result<T, IndexRefusal> {
  try {
    return work();
  } catch (error) {
    const refusal = toIndexRefusal(error, path);
    if (refusal === undefined) throw error;
    return err(refusal);
  }
}

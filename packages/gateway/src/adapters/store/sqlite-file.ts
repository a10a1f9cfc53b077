import { dirname, join } from 'node:path';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  ensureFolder,
  ensurePrivateFile,
  type FileFacts,
  readFileFacts,
  isThere,
  moveFile,
  removeFile,
} from '@assay-mcp/kit/platform/files';
import { pause } from '@assay-mcp/kit/platform/pause';
import { openDatabase, readPragma, type Database } from '@assay-mcp/kit/platform/sqlite';
import type { Db, Dialect } from './dialect.ts';
import { needsWriter, toStoreRefusal, isDamagedError, isLockedError } from './driver-faults.ts';
import { migrate, findSchemaFault } from './migrations.ts';
import { findMoveRefusal, OpenFiles } from './open-files.ts';
import { findServe, SERVE_FILE } from './running-serve.ts';
import { createKysely, createSqliteDialect } from './sqlite-dialect.ts';

/** Maximum wait in ms for another process's lock. */
const LOCK_MS = 5_000;
const RETRY_MS = 50;
const CACHE_KIB = 16_000;
/** Maximum wait in ms for other processes to close a file of an earlier build; a start has it open only briefly. */
const CLOSE_MS = 3_000;
/** SQLite treats a file shorter than its smallest page as empty and would overwrite it. */
const MIN_BYTES = 512;

export interface OpenSqlite {
  /** Identifies the file, in case another one gets its name later. */
  readonly file: string;
  readonly files: OpenFiles;
  readonly database: Database;
  readonly db: Db;
  readonly dialect: Dialect;
  /** The new path of the file of an earlier build that had its name. */
  readonly keptAs?: string | undefined;
}

/**
 * Opens `assay.db` in a home folder, creating what is missing. A file of an earlier build is renamed, unless a process
 * uses it: STORE_UNAVAILABLE. A damaged file is renamed: STORE_DAMAGED; the next open starts with a new file. With
 * `known`, the id of the file that this process opened before, no file is created, and any other file is rejected:
 * STORE_MOVED.
 */
export async function openSqliteFile(home: string, known?: string): Promise<Result<OpenSqlite, Refusal>> {
  const path = join(home, 'assay.db');
  const opened = await openPath(path, known);
  if (opened.ok || opened.error.code !== 'SCHEMA_TOO_OLD' || known !== undefined) return opened;
  const kept = await setAsideEarlier(path);
  if (!kept.ok) return kept;
  const created = await openPath(path, undefined);
  return created.ok ? ok({ ...created.value, keptAs: kept.value }) : created;
}

async function openPath(path: string, known: string | undefined): Promise<Result<OpenSqlite, Refusal>> {
  if (known === undefined) {
    const home = dirname(path);
    const folder = await ensureFolder(home);
    const file = folder.ok ? await ensurePrivateFile(path) : folder;
    if (!file.ok) return unavailable(folder.ok ? path : home, file.error.reason);
  }
  const seen = await readFileFacts(path);
  const moved = known === undefined ? undefined : findMoveRefusal(path, known, seen?.id);
  if (moved !== undefined) return err(moved);
  const opened = await openSeen(path, seen);
  const isFinal = known !== undefined || (!opened.ok && opened.error.code === 'STORE_DAMAGED');
  if (isFinal || (await readFileFacts(path))?.id === seen?.id) return opened;
  // Another process has renamed the file meanwhile, so this one may have opened another.
  if (opened.ok) opened.value.database.close();
  return openPath(path, known);
}

async function openSeen(path: string, seen: FileFacts | undefined): Promise<Result<OpenSqlite, Refusal>> {
  if (seen !== undefined && seen.bytes > 0 && seen.bytes < MIN_BYTES)
    return setAside(path, seen.id, 'it is shorter than any database');
  const deadlineMs = Date.now() + LOCK_MS;
  for (;;) {
    try {
      const inspected = await inspect(path);
      if (typeof inspected === 'string') return await setAside(path, seen?.id, inspected);
      return inspected ?? (await open(path, seen?.id ?? ''));
    } catch (error) {
      if (isDamagedError(error)) return await setAside(path, seen?.id, 'it is not a database');
      // Some steps of creating a file do not wait for locks themselves.
      if (!isLockedError(error) || Date.now() > deadlineMs) return refused(path, error);
      await pause(RETRY_MS);
    }
  }
}

/**
 * Checks read-only, since even closing a writable connection can change the file. Returns a refusal, or what is
 * damaged.
 */
async function inspect(path: string): Promise<Result<never, Refusal> | string | undefined> {
  let database: Database;
  try {
    database = openDatabase(path, { mode: 'read', timeoutMs: LOCK_MS });
  } catch (error) {
    if (isDamagedError(error)) throw error;
    return undefined; // the same fault will prevent writing and is reported there
  }
  try {
    const db = createKysely(database);
    const fault = await findSchemaFault(db, createSqliteDialect(path, { database, db }));
    if (fault !== undefined) return err(fault);
    const found = readPragma(database, 'quick_check(1)');
    return found === 'ok' ? undefined : 'its pages contradict each other';
  } catch (error) {
    // A reader may not recover after a crash; the writer that opens the file next does.
    if (needsWriter(error)) return undefined;
    throw error;
  } finally {
    database.close();
  }
}

async function open(path: string, file: string): Promise<Result<OpenSqlite, Refusal>> {
  const database = openDatabase(path, { mode: 'write', timeoutMs: LOCK_MS });
  try {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -${CACHE_KIB}`,
    );
    const db = createKysely(database);
    const files = new OpenFiles(path, file);
    const dialect = createSqliteDialect(path, { database, db, verify: () => files.check() });
    const migrated = await migrate(db, dialect);
    if (migrated.ok) return ok({ file, files, database, db, dialect });
    database.close();
    return migrated;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Moves the write-ahead log into the database, so that closing has nothing left to do. False if another process or the
 * disk prevents that; the log stays then.
 */
export function checkpointLog({ database }: OpenSqlite): boolean {
  try {
    database.exec('PRAGMA busy_timeout = 0');
    return readPragma(database, 'wal_checkpoint(TRUNCATE)') === 0; // 1 if busy
  } catch (error) {
    if (toStoreRefusal(error) === undefined) throw error;
    return false;
  } finally {
    database.exec(`PRAGMA busy_timeout = ${LOCK_MS}`);
  }
}

function refused(path: string, error: unknown): Result<never, Refusal> {
  const refusal = toStoreRefusal(error);
  if (refusal === undefined) throw error;
  return refusal.code === 'STORE_UNAVAILABLE' ? unavailable(path, refusal.reason) : err(refusal);
}

function unavailable(path: string, reason: string): Result<never, Refusal> {
  return err({ code: 'STORE_UNAVAILABLE', reason: `${JSON.stringify(path)}: ${reason}` });
}

/**
 * Renames a file of an earlier build, after moving its write-ahead log into it. Returns the new path; undefined if
 * another process has done so meanwhile.
 */
async function setAsideEarlier(path: string): Promise<Result<string | undefined, Refusal>> {
  const serve = await findServe(join(dirname(path), SERVE_FILE));
  // An idle `serve` closes its file and opens it again later.
  if (serve !== undefined && serve.pid !== process.pid)
    return inUse(
      path,
      `\`assay serve\` uses it (process ${serve.pid}; if that is another program, delete ${SERVE_FILE} beside it)`,
    );
  return withFileLock(path, async (lockPath) => {
    if (!isThere(path)) return ok(undefined);
    const left = await leaveLog(path, (fault) => fault?.code === 'SCHEMA_TOO_OLD');
    if (left === 'not_wanted') return ok(undefined);
    if (left === 'in_use') return inUse(path, 'another process has it open');
    const keptAs = freeName(path);
    const moved = await moveFile(path, keptAs);
    if (!moved.ok) return unavailable(path, `it cannot be renamed: ${moved.error.reason}`);
    // A process that waits for the deleted lock no longer finds an earlier file.
    await removeFile(lockPath);
    return ok(keptAs);
  });
}

/** No process may open the file while another renames it: SQLite would look for the log of the next file. */
export async function withFileLock<T>(
  path: string,
  work: (lockPath: string) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  const lockPath = `${path}.lock`;
  const ensured = await ensurePrivateFile(lockPath);
  if (!ensured.ok) return unavailable(lockPath, ensured.error.reason);
  const lock = openDatabase(lockPath, { mode: 'write', timeoutMs: LOCK_MS });
  try {
    lock.exec('begin exclusive');
    return await work(lockPath);
  } catch (error) {
    return refused(path, error);
  } finally {
    lock.close();
  }
}

/**
 * Moves the write-ahead log into the file and ends it, which SQLite does only if no other process has the file open.
 * `isWanted` is called with why this build cannot use it, if so.
 */
export async function leaveLog(
  path: string,
  isWanted: (fault: Refusal | undefined) => boolean,
): Promise<'left' | 'in_use' | 'not_wanted'> {
  const database = openDatabase(path, { mode: 'write', timeoutMs: LOCK_MS });
  try {
    const db = createKysely(database);
    const fault = await findSchemaFault(db, createSqliteDialect(path, { database, db }));
    if (!isWanted(fault)) return 'not_wanted';
    database.exec('PRAGMA busy_timeout = 0');
    for (const deadlineMs = Date.now() + CLOSE_MS; Date.now() < deadlineMs;) {
      try {
        if (readPragma(database, 'journal_mode = DELETE') === 'delete') return 'left';
      } catch (error) {
        if (!isLockedError(error)) throw error;
      }
      await pause(RETRY_MS);
    }
    return 'in_use';
  } finally {
    database.close();
  }
}

/** A name for a file that is kept: with the date, and a number if there is one already. */
export function freeName(path: string): string {
  const name = `${path}.${new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)}`;
  for (let count = 1; ; count += 1) {
    const keptAs = count === 1 ? name : `${name}-${count}`;
    if (!isThere(keptAs)) return keptAs;
  }
}

function inUse(path: string, reason: string): Result<never, Refusal> {
  const what = 'it was created by an earlier build of Assay, whose data this one cannot read';
  return unavailable(
    path,
    `${what}, and ${reason}. Stop every Assay of this home, then start this one again`,
  );
}

/** `id` identifies the damaged file: a replacement that another process made meanwhile must stay. */
async function setAside(
  path: string,
  id: string | undefined,
  reason: string,
): Promise<Result<never, Refusal>> {
  if ((await readFileFacts(path))?.id !== id)
    return unavailable(path, 'another process has just replaced a damaged one with it; try again');
  // Without colons, which some systems do not allow in file names.
  const keptAs = `${path}.damaged-${new Date().toISOString().replaceAll(':', '')}`;
  // The database file goes last: a leftover log would be mistaken for the next file's.
  for (const suffix of ['-wal', '-shm', '']) {
    const moved = await moveFile(`${path}${suffix}`, `${keptAs}${suffix}`);
    if (!moved.ok) return unavailable(path, `it is damaged, and cannot be set aside: ${moved.error.reason}`);
  }
  return err({ code: 'STORE_DAMAGED', path, keptAs, reason });
}

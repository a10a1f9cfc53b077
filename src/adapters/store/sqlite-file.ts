import { join } from 'node:path';
import SqliteDatabase, { type Database } from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { ensureFolder, ensurePrivateFile, fileFacts, moveFile } from '../../platform/files.ts';
import { pause } from '../../platform/turns.ts';
import type { Db, Dialect } from './dialect.ts';
import { needsWriter, refusalOf, saysDamaged, saysLocked } from './driver-faults.ts';
import { migrate, newerThanKnown } from './migrations.ts';
import { movedFrom, OpenFiles } from './open-files.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import type { Tables } from './tables.ts';

/** Longest wait in ms for a lock that another process holds. */
const LOCK_MS = 5_000;
const RETRY_MS = 50;
/** SQLite takes anything shorter than its smallest page for an empty file, and would write over it. */
const LEAST_BYTES = 512;

export interface OpenSqlite {
  /** Tells the file from another one that has its name later. */
  readonly file: string;
  readonly files: OpenFiles;
  readonly database: Database;
  readonly db: Db;
  readonly dialect: Dialect;
}

/**
 * Opens `assay.db` of a home, making what is not there. A damaged file is kept under another name: STORE_DAMAGED; the
 * next one who opens begins anew. With `known`, the id of the file that this process opened before, none is made, and
 * another one is refused: STORE_MOVED.
 */
export async function openSqliteFile(home: string, known?: string): Promise<Result<OpenSqlite, Refusal>> {
  const path = join(home, 'assay.db');
  if (known === undefined) {
    const folder = await ensureFolder(home);
    const file = folder.ok ? await ensurePrivateFile(path) : folder;
    if (!file.ok) return unavailable(folder.ok ? path : home, file.error.reason);
  }
  const seen = await fileFacts(path);
  const moved = known === undefined ? undefined : movedFrom(path, known, seen?.id);
  if (moved !== undefined) return err(moved);
  if (seen !== undefined && seen.bytes > 0 && seen.bytes < LEAST_BYTES)
    return setAside(path, seen.id, 'it is shorter than any database');
  const deadlineMs = Date.now() + LOCK_MS;
  for (;;) {
    try {
      const inspected = await inspect(path);
      if (typeof inspected === 'string') return await setAside(path, seen?.id, inspected);
      return inspected ?? (await open(path, seen?.id ?? ''));
    } catch (error) {
      if (saysDamaged(error)) return await setAside(path, seen?.id, 'its content is no database');
      // Some steps of making a file do not wait for a lock by themselves.
      if (!saysLocked(error) || Date.now() > deadlineMs) return refused(path, error);
      await pause(RETRY_MS);
    }
  }
}

/** A look that changes nothing, as even closing a connection that may write can: a refusal, or what is damaged. */
async function inspect(path: string): Promise<Result<never, Refusal> | string | undefined> {
  let database: Database;
  try {
    database = connect(path, true);
  } catch (error) {
    if (saysDamaged(error)) throw error;
    return undefined; // what hinders reading will hinder writing, and is told there
  }
  try {
    const db = kyselyOf(database);
    const newer = await newerThanKnown(db, sqliteDialect(path, { database, db }));
    if (newer !== undefined) return err(newer);
    const found = database.pragma('quick_check(1)', { simple: true });
    return found === 'ok' ? undefined : 'its pages contradict each other';
  } catch (error) {
    // A reader may not finish what a crash left in the middle; the writer that comes next does.
    if (needsWriter(error)) return undefined;
    throw error;
  } finally {
    database.close();
  }
}

async function open(path: string, file: string): Promise<Result<OpenSqlite, Refusal>> {
  const database = connect(path, false);
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    const db = kyselyOf(database);
    const files = new OpenFiles(path, file);
    const dialect = sqliteDialect(path, { database, db, verify: () => files.check() });
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
 * Moves what is in the log of writes to where it belongs, so that nothing is left for the closing to do. Where another
 * process stands in the way, or the disk does, it stays where it is.
 */
export function emptyLog({ database }: OpenSqlite): void {
  try {
    database.pragma('busy_timeout = 0');
    database.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
  } finally {
    database.pragma(`busy_timeout = ${LOCK_MS}`);
  }
}

function connect(path: string, readonly: boolean): Database {
  return new SqliteDatabase(path, { readonly, fileMustExist: true, timeout: LOCK_MS });
}

function kyselyOf(database: Database): Db {
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
}

function refused(path: string, error: unknown): Result<never, Refusal> {
  const refusal = refusalOf(error);
  if (refusal?.code !== 'STORE_UNAVAILABLE') throw error;
  return unavailable(path, refusal.reason);
}

function unavailable(path: string, reason: string): Result<never, Refusal> {
  return err({ code: 'STORE_UNAVAILABLE', reason: `${JSON.stringify(path)}: ${reason}` });
}

/** `id` is that of the file that was found damaged: what another process put in its place meanwhile stays there. */
async function setAside(
  path: string,
  id: string | undefined,
  reason: string,
): Promise<Result<never, Refusal>> {
  if ((await fileFacts(path))?.id !== id)
    return unavailable(path, 'another process has just put it in the place of a damaged one; try again');
  // Without the colons, which not every system allows in a name.
  const keptAs = `${path}.damaged-${new Date().toISOString().replaceAll(':', '')}`;
  // The file itself goes last: a log of writes that stayed behind would be taken for that of the next file.
  for (const suffix of ['-wal', '-shm', '']) {
    const moved = await moveFile(`${path}${suffix}`, `${keptAs}${suffix}`);
    if (!moved.ok) return unavailable(path, `it is damaged, and cannot be set aside: ${moved.error.reason}`);
  }
  return err({ code: 'STORE_DAMAGED', path, keptAs, reason });
}

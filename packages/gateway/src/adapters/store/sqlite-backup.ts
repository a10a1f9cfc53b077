import { lstat, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { formatFileError } from '@assay-mcp/kit/platform/file-error';
import {
  ensureFolder,
  isThere,
  keepFile,
  moveFile,
  publishFile,
  readFileFacts,
  resolveRealPath,
} from '@assay-mcp/kit/platform/files';
import { inspectPath } from '@assay-mcp/kit/platform/machine';
import { copyDatabase, type Database, openDatabase, readPragma } from '@assay-mcp/kit/platform/sqlite';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import { isDamagedError, isLockedError, toStoreRefusal } from './driver-faults.ts';
import { findSchemaFault, readVersions } from './migrations.ts';
import { findServe, SERVE_FILE } from './running-serve.ts';
import { createKysely, createSqliteDialect } from './sqlite-dialect.ts';
import { freeName, leaveLog, withFileLock } from './sqlite-file.ts';

const FILE = 'assay.db';
const OWN_FILE = 0o600;

export interface BackupFacts {
  readonly bytes: number;
  /** Versions of the migrations that its tables have. */
  readonly migrations: readonly number[];
}

export interface BackupRequest {
  readonly home: string;
  /** The file to write. */
  readonly path: string;
  /** Whether an existing file is replaced. */
  readonly replaces: boolean;
}

/**
 * Copies the store of a home as of one moment into a file, while other processes use it. The file appears under its
 * name once it was checked. FILE_UNREADABLE, FILE_UNWRITABLE
 */
export async function backUpSqlite(request: BackupRequest): Promise<Result<BackupFacts, Refusal>> {
  const { home, path, replaces } = request;
  const source = join(home, FILE);
  if (!isThere(source)) return unreadable(source, 'there is no such file');
  const fault = await findTargetFault(request);
  if (fault !== undefined) return unwritable(path, fault);
  return withDraft(path, async (draft) => {
    const copied = await copyChecked(source, 'read', draft);
    if (!copied.ok) return copied;
    const published = await publishFile(draft, path, { replaces });
    if (!published.ok) return unwritable(path, published.error.reason);
    return published.value === 'exists' ? unwritable(path, EXISTS) : copied;
  });
}

const EXISTS = 'it exists already; --force replaces it';

/** The names that the files of a store have in its home. */
const OWN_NAMES: ReadonlySet<string> = new Set(
  ['', '-wal', '-shm', '-journal', '.lock'].map((suffix) => FILE + suffix),
);

async function findTargetFault({ home, path, replaces }: BackupRequest): Promise<string | undefined> {
  const [folder, own] = await Promise.all([resolveRealPath(dirname(resolve(path))), resolveRealPath(home)]);
  if (folder === own && OWN_NAMES.has(basename(path))) return 'it belongs to the store itself';
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!replaces) return EXISTS;
  return found.isFile() ? undefined : 'only a regular file is replaced, not a link, a folder or a device';
}

export interface Restored extends BackupFacts {
  /** Where the store is that was there before. Undefined if there was none. */
  readonly keptAs: string | undefined;
}

/**
 * Replaces the store of a home by a backup. At any moment, `assay.db` is either the old file or the new one, complete;
 * the old one is kept. GATEWAY_RUNNING, FILE_UNREADABLE if the backup is not usable, STORE_UNAVAILABLE if a process
 * uses the store.
 */
export async function restoreSqlite(home: string, backup: string): Promise<Result<Restored, Refusal>> {
  const fault = await findSourceFault(backup);
  if (fault !== undefined) return unreadable(backup, fault);
  const folder = await ensureFolder(home);
  if (!folder.ok) return unwritable(home, folder.error.reason);
  const path = join(home, FILE);
  return withFileLock(path, async () => {
    await removeLeftovers(home);
    const serve = await findServe(join(home, SERVE_FILE));
    if (serve !== undefined) return err({ code: 'GATEWAY_RUNNING', pid: serve.pid, url: serve.url });
    return withDraft(path, async (draft) => {
      const copied = await copyChecked(backup, 'read_alone', draft);
      if (!copied.ok) return copied;
      return whileLocked(path, async () => {
        const kept = await keepPresent(path);
        if (!kept.ok) return kept;
        const published = await publishFile(draft, path, { replaces: true });
        if (published.ok) return ok({ ...copied.value, keptAs: kept.value });
        await removeLeftovers(home);
        return unwritable(path, published.error.reason);
      });
    });
  });
}

async function findSourceFault(backup: string): Promise<string | undefined> {
  const found = await stat(backup).catch((error: unknown) => formatFileError(error));
  if (typeof found === 'string') return found;
  if (!found.isFile()) return 'it is not a file';
  const log = await inspectPath(`${backup}-wal`);
  return (log?.bytes ?? 0) > 0
    ? 'it has a write-ahead log beside it, so it is a store in use and not a backup'
    : undefined;
}

/** Runs `work` while no process has the present store open or can open it. A damaged one cannot be locked. */
async function whileLocked<T>(
  path: string,
  work: () => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  let database: Database | undefined;
  try {
    if (isThere(path)) database = await lockFile(path);
    // Windows renames no file over one that is open.
    if (process.platform === 'win32') database?.close();
    return await work();
  } catch (error) {
    if (!isLockedError(error)) throw error;
    const reason = `${JSON.stringify(path)}: another process has it open. Stop every Assay of this home first`;
    return err({ code: 'STORE_UNAVAILABLE', reason });
  } finally {
    if (database?.isOpen === true) database.close();
  }
}

/** Undefined if the file is damaged. Rejects with SQLITE_BUSY if a process has it open. */
async function lockFile(path: string): Promise<Database | undefined> {
  let database: Database | undefined;
  try {
    const left = await leaveLog(path, () => true);
    database = openDatabase(path, { mode: 'write', timeoutMs: 0 });
    database.exec('BEGIN EXCLUSIVE');
    // A process that opened it meanwhile has set its mode again.
    if (left === 'left' && readPragma(database, 'journal_mode') === 'delete') return database;
    throw Object.assign(new Error('the file is in use'), { code: 'SQLITE_BUSY' });
  } catch (error) {
    database?.close();
    if (isDamagedError(error)) return undefined;
    throw error;
  }
}

/** Gives the present store a second name. It stays where it is until the new one takes its place. */
async function keepPresent(path: string): Promise<Result<string | undefined, Refusal>> {
  const isPresent = isThere(path);
  const keptAs = freeName(path);
  if (isPresent) {
    const kept = await keepFile(path, keptAs);
    if (!kept.ok) return unwritable(keptAs, kept.error.reason);
  }
  // A log that is left belongs to a damaged store, and SQLite would apply it to the new one.
  for (const suffix of ['-wal', '-shm']) {
    const moved = await moveFile(`${path}${suffix}`, `${keptAs}${suffix}`);
    if (!moved.ok) return unwritable(`${path}${suffix}`, moved.error.reason);
  }
  return ok(isPresent ? keptAs : undefined);
}

/** Copies a database into an empty file of this process, and checks the copy. Rejects if the copy cannot be written. */
async function copyChecked(
  source: string,
  mode: 'read' | 'read_alone',
  draft: string,
): Promise<Result<BackupFacts, Refusal>> {
  let database: Database | undefined;
  try {
    database = openDatabase(source, { mode });
    readPragma(database, 'schema_version');
  } catch (error) {
    database?.close();
    const refusal = isDamagedError(error) ? undefined : toStoreRefusal(error);
    const reason = refusal?.code === 'STORE_UNAVAILABLE' ? refusal.reason : 'it is damaged or not a database';
    return unreadable(source, reason);
  }
  try {
    await copyDatabase(database, draft);
    leaveWalMode(draft);
    const checked = await check(draft);
    return typeof checked === 'string' ? unreadable(source, checked) : ok(checked);
  } catch (error) {
    if (isDamagedError(error)) return unreadable(source, 'it is damaged');
    throw error;
  } finally {
    database.close();
  }
}

/** So that the copy needs no other file beside it. */
function leaveWalMode(path: string): void {
  const database = openDatabase(path, { mode: 'write' });
  try {
    database.exec('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
}

/** Why a file is not a usable store, or what it has. */
async function check(path: string): Promise<BackupFacts | string> {
  const database = openDatabase(path, { mode: 'read_alone' });
  try {
    if (readPragma(database, 'integrity_check(1)') !== 'ok')
      return 'it is damaged: its pages contradict each other';
    const db = createKysely(database);
    const dialect = createSqliteDialect(path, { database, db });
    if (!(await dialect.hasTable(db, 'assay_migrations'))) return 'it is not a store of Assay';
    const fault = await findSchemaFault(db, dialect);
    if (fault?.code === 'SCHEMA_TOO_OLD')
      return 'a build of an earlier edition of Assay created it, whose data this one cannot read';
    if (fault !== undefined) return 'a newer version of Assay wrote it; update Assay';
    return { bytes: (await stat(path)).size, migrations: [...(await readVersions(db, dialect))] };
  } finally {
    database.close();
  }
}

/** Runs `work` with an empty file beside `path`, which is removed afterwards unless it was renamed. */
async function withDraft<T>(
  path: string,
  work: (draft: string) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}${DRAFT}`);
  try {
    await (await open(draft, 'wx', OWN_FILE)).close();
    return await work(draft);
  } catch (error) {
    return failed(path, error);
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm'])
      await rm(`${draft}${suffix}`, { force: true }).catch(() => undefined);
  }
}

const DRAFT = '.tmp';
const DRAFT_NAME = /^\.assay\.db\.[\da-f]{8}-[\da-f-]{27}\.tmp/;
const KEPT_NAME = /^assay\.db\.\d{4}-\d\d-\d\d(?:-\d+)?$/;

/** What restores left that were killed: drafts, and second names of the present store. Called with its lock. */
async function removeLeftovers(home: string): Promise<void> {
  const present = (await readFileFacts(join(home, FILE)))?.id;
  for (const name of await readdir(home)) {
    const path = join(home, name);
    const isSecondName = KEPT_NAME.test(name) && (await readFileFacts(path))?.id === present;
    if (DRAFT_NAME.test(name) || isSecondName) await rm(path, { force: true });
  }
}

function failed(path: string, error: unknown): Result<never, Refusal> {
  if (error instanceof Error && 'syscall' in error) return unwritable(path, formatFileError(error));
  const refusal = toStoreRefusal(error);
  if (refusal?.code === 'STORE_UNAVAILABLE') return unwritable(path, refusal.reason);
  throw error;
}

function unreadable(path: string, reason: string): Result<never, Refusal> {
  return err({ code: 'FILE_UNREADABLE', path, reason });
}

function unwritable(path: string, reason: string): Result<never, Refusal> {
  return err({ code: 'FILE_UNWRITABLE', path, reason });
}

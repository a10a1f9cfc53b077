import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import SqliteDatabase, { type Database } from 'better-sqlite3';
import { err, ok, type Result } from '../../core/result.ts';
import { readFileFactsNow } from '../../platform/files.ts';
import { getIndexPath, inspect, LOCK_MS } from './index-file.ts';
import type { IndexRefusal } from './index-refusal.ts';
import { toIndexRefusal } from './sqlite-faults.ts';

const CACHE_KIB = 16_384;
/** Maximum size in bytes of an index that must be read into memory, which is rare. */
const MAX_BYTES_IN_MEMORY = 512 * 1024 * 1024;

interface Open {
  readonly database: Database;
  /** Identifies the file, because another one may replace it. */
  readonly file: string;
  /** Whether it stays open after a read. */
  readonly isKept: boolean;
}

/**
 * Reads the index in a folder. Never writes, creates or repairs anything, so it works on a read-only file in a
 * read-only directory. Sees what other processes have completed, even if they replaced the file.
 */
export class IndexReader {
  readonly #path: string;
  readonly #onOpen: (database: Database) => void;
  #open: Open | undefined;

  /** `onOpen` prepares a new connection, for example loads an extension. */
  constructor(folder: string, onOpen: (database: Database) => void = () => undefined) {
    this.#path = getIndexPath(folder);
    this.#onOpen = onOpen;
  }

  /** Runs `use` on a consistent snapshot. It must not keep the database, but may cache statements per database. */
  read<T>(use: (database: Database) => T): Result<T, IndexRefusal> {
    try {
      const opened = this.#current();
      if (!opened.ok) return opened;
      const { database } = opened.value;
      database.exec('BEGIN');
      try {
        return ok(use(database));
      } finally {
        if (database.inTransaction) database.exec('COMMIT');
        this.#release(opened.value);
      }
    } catch (error) {
      this.close();
      const refusal = toIndexRefusal(error, this.#path);
      if (refusal === undefined) throw error;
      return err(refusal);
    }
  }

  /** The same for searches: NOT_INDEXED unless the repository (or any, if none is given) has been indexed. */
  readIndexed<T>(repositoryId: string | undefined, use: (database: Database) => T): Result<T, IndexRefusal> {
    const result = this.read((database) => {
      const row = database
        .prepare(
          'SELECT 1 FROM repositories WHERE indexed_at IS NOT NULL AND (@id IS NULL OR id = @id) LIMIT 1',
        )
        .get({ id: repositoryId ?? null });
      return row === undefined ? undefined : { value: use(database) };
    });
    if (!result.ok) return result;
    return result.value === undefined
      ? err({ code: 'NOT_INDEXED', repository: repositoryId })
      : ok(result.value.value);
  }

  close(): void {
    this.#open?.database.close();
    this.#open = undefined;
  }

  #current(): Result<Open, IndexRefusal> {
    const file = readFileFactsNow(this.#path)?.id;
    if (this.#open !== undefined && this.#open.file !== file) this.close();
    if (file === undefined) return err({ code: 'NOT_INDEXED' });
    if (this.#open === undefined) {
      const connected = connect(this.#path);
      if (!connected.ok) return connected;
      const database = connected.value;
      this.#open = { database, file, isKept: !database.memory };
      database.pragma(`cache_size = -${CACHE_KIB}`);
      this.#onOpen(database);
    }
    const found = inspect(this.#open.database, this.#path);
    if (found.ok && found.value === 'current') return ok(this.#open);
    this.close();
    return found.ok ? err({ code: 'NOT_INDEXED' }) : found;
  }

  /** In WAL mode, an open connection would keep the writer from leaving that mode. */
  #release({ database, isKept }: Open): void {
    if (!isKept || database.pragma('journal_mode', { simple: true }) === 'wal') this.close();
  }
}

/** Opens a separate connection, which the caller must close soon. Errors: NOT_INDEXED. */
export function openToRead(folder: string): Result<Database, IndexRefusal> {
  const path = getIndexPath(folder);
  if (!existsSync(path)) return err({ code: 'NOT_INDEXED' });
  try {
    const connected = connect(path);
    if (!connected.ok) return connected;
    const found = inspect(connected.value, path);
    if (found.ok && found.value === 'current') return connected;
    connected.value.close();
    return found.ok ? err({ code: 'NOT_INDEXED' }) : found;
  } catch (error) {
    const refusal = toIndexRefusal(error, path);
    if (refusal === undefined) throw error;
    return err(refusal);
  }
}

function connect(path: string): Result<Database, IndexRefusal> {
  if (!isWalWithoutLog(path))
    return ok(new SqliteDatabase(path, { readonly: true, fileMustExist: true, timeout: LOCK_MS }));
  if (statSync(path).size <= MAX_BYTES_IN_MEMORY) return ok(connectToCopy(path));
  const reason = 'its last run was stopped while it closed the index; the next index_repository repairs it';
  return err({ code: 'INDEX_UNAVAILABLE', path, reason });
}

/**
 * Whether opening the file would create a log: it was copied without one, or its writer was killed just after removing
 * an emptied log.
 */
function isWalWithoutLog(path: string): boolean {
  const header = Buffer.alloc(20);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, header, 0, header.length, 0);
  } finally {
    closeSync(fd);
  }
  return header[READ_VERSION] === WAL_VERSION && !existsSync(`${path}-wal`);
}

function connectToCopy(path: string): Database {
  const bytes = readFileSync(path);
  bytes[WRITE_VERSION] = bytes[READ_VERSION] = ROLLBACK_VERSION;
  return new SqliteDatabase(bytes, { readonly: true });
}

/** https://sqlite.org/fileformat2.html#file_format_version_numbers */
const WRITE_VERSION = 18;
const READ_VERSION = 19;
const ROLLBACK_VERSION = 1;
const WAL_VERSION = 2;

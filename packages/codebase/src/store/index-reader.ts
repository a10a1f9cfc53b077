import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { readFileFactsNow } from '@assay-mcp/kit/platform/files';
import { openDatabase, readPragma, type Database } from '@assay-mcp/kit/platform/sqlite';
import { getIndexPath, inspect } from './index-file.ts';
import type { IndexRefusal } from './index-refusal.ts';
import { toIndexRefusal } from './sqlite-faults.ts';

const CACHE_KIB = 16_384;

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
        if (database.isTransaction) database.exec('COMMIT');
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
    const result = this.read((database) =>
      isIndexed(database, repositoryId) ? { value: use(database) } : undefined,
    );
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
      const isAlone = isWalWithoutLog(this.#path);
      const database = connect(this.#path, isAlone);
      this.#open = { database, file, isKept: !isAlone };
      database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
      this.#onOpen(database);
    }
    const found = inspect(this.#open.database, this.#path);
    if (found.ok && found.value === 'current') return ok(this.#open);
    this.close();
    return found.ok ? err({ code: 'NOT_INDEXED' }) : found;
  }

  /** In WAL mode, an open connection would keep the writer from leaving that mode. */
  #release({ database, isKept }: Open): void {
    if (!isKept || readPragma(database, 'journal_mode') === 'wal') this.close();
  }
}

/**
 * Runs `use` on a consistent snapshot of a separate connection, as other requests are answered in between. Errors:
 * NOT_INDEXED, as `readIndexed`.
 */
export async function readIndexedAlone<T>(
  folder: string,
  repositoryId: string | undefined,
  use: (database: Database) => Promise<T>,
): Promise<Result<T, IndexRefusal>> {
  const opened = openToRead(folder);
  if (!opened.ok) return opened;
  try {
    opened.value.exec('BEGIN');
    if (!isIndexed(opened.value, repositoryId)) return err({ code: 'NOT_INDEXED', repository: repositoryId });
    return ok(await use(opened.value));
  } catch (error) {
    const refusal = toIndexRefusal(error, getIndexPath(folder));
    if (refusal === undefined) throw error;
    return err(refusal);
  } finally {
    opened.value.close();
  }
}

export function isIndexed(database: Database, repositoryId: string | undefined): boolean {
  const row = database
    .prepare('SELECT 1 FROM repositories WHERE indexed_at IS NOT NULL AND (@id IS NULL OR id = @id) LIMIT 1')
    .get({ id: repositoryId ?? null });
  return row !== undefined;
}

/** Opens a separate connection, which the caller must close soon. Errors: NOT_INDEXED. */
export function openToRead(folder: string): Result<Database, IndexRefusal> {
  const path = getIndexPath(folder);
  if (!existsSync(path)) return err({ code: 'NOT_INDEXED' });
  try {
    const database = connect(path, isWalWithoutLog(path));
    const found = inspect(database, path);
    if (found.ok && found.value === 'current') return ok(database);
    database.close();
    return found.ok ? err({ code: 'NOT_INDEXED' }) : found;
  } catch (error) {
    const refusal = toIndexRefusal(error, path);
    if (refusal === undefined) throw error;
    return err(refusal);
  }
}

function connect(path: string, isAlone: boolean): Database {
  return openDatabase(path, { mode: isAlone ? 'read_alone' : 'read', allowExtension: true });
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

/** https://sqlite.org/fileformat2.html#file_format_version_numbers */
const READ_VERSION = 19;
const WAL_VERSION = 2;

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** Values by position, or one record of the named ones, whose names have no prefix. */
export type Bindings = SQLInputValue[] | [Readonly<Record<string, SQLInputValue>>];

/** JavaScript numbers arrive as REAL: the affinity of a column or a comparison makes integers of them. */
export interface Statement {
  /** Rows are unknown: another program may have stored any value. BLOBs are `Uint8Array`s. */
  all(...parameters: Bindings): unknown[];
  get(...parameters: Bindings): unknown;
  iterate(...parameters: Bindings): IterableIterator<unknown>;
  run(...parameters: Bindings): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  columns(): readonly { readonly name: string }[];
  setReadBigInts(isEnabled: boolean): void;
  setReturnArrays(isEnabled: boolean): void;
}

export interface Database extends Omit<DatabaseSync, 'prepare'> {
  prepare(sql: string): Statement;
}

export interface OpenDatabase {
  /**
   * `read` and `write` fail without a file. `read_alone` ignores locks and a write-ahead log, and creates no files; it is
   * for a file to which nobody writes.
   */
  readonly mode: 'read' | 'read_alone' | 'write' | 'create';
  /** Maximum wait in ms for the lock of another connection. */
  readonly timeoutMs?: number;
  readonly allowExtension?: boolean;
}

const TIMEOUT_MS = 5_000;

/** https://sqlite.org/uri.html#recognized_query_parameters */
const QUERIES = {
  read: 'mode=ro',
  read_alone: 'mode=ro&immutable=1',
  write: 'mode=rw',
  create: 'mode=rwc',
} as const;

export function openDatabase(
  path: string,
  { mode, timeoutMs = TIMEOUT_MS, allowExtension = false }: OpenDatabase,
): Database {
  const url = pathToFileURL(path);
  url.search = QUERIES[mode];
  const readOnly = mode === 'read' || mode === 'read_alone';
  loaded ??= loadDatabaseSync();
  const database = new loaded(url, { readOnly, timeout: timeoutMs, allowExtension });
  const prepare = database.prepare.bind(database);
  return Object.assign(database, {
    prepare(sql: string): Statement {
      const statement = prepare(sql);
      // FTS5 leaves row ids of its own, above 2^53, as the last inserted one; Node 26 refuses them as numbers.
      if (statement.columns().length === 0) statement.setReadBigInts(true);
      return statement;
    },
  });
}

let loaded: typeof DatabaseSync | undefined;

/** Node 22 warns at the first load that SQLite is experimental there. Only this warning is left out. */
function loadDatabaseSync(): typeof DatabaseSync {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- restored below
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite').DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Copies all pages of an open database into a file, as of one moment, while other connections may write. */
export async function copyDatabase(database: Database, path: string): Promise<void> {
  const { backup } = process.getBuiltinModule('node:sqlite');
  // In one step: with several, each write of another process would start it again.
  await backup(database as unknown as DatabaseSync, path, { rate: ALL_PAGES });
}

const ALL_PAGES = 2 ** 31 - 1;

/** The value of a pragma such as `page_size`, also after an assignment such as `journal_mode = WAL`. */
export function readPragma(database: Database, pragma: string): unknown {
  const row = database.prepare(`PRAGMA ${pragma}`).get();
  return typeof row === 'object' && row !== null ? Object.values(row)[0] : undefined;
}

/** Commits what `work` writes, or nothing of it if it throws. */
export function inTransaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN');
  try {
    const done = work();
    database.exec('COMMIT');
    return done;
  } finally {
    // Some errors, such as a full disk, have already ended it.
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

/** The code of an error of SQLite, such as `SQLITE_BUSY`, of Node or of a driver. Empty if it has none. */
export function getErrorCode(error: unknown): string {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return '';
  if (error.code !== 'ERR_SQLITE_ERROR' || !('errcode' in error)) return error.code;
  const code = Number(error.errcode);
  return code === READONLY_DBMOVED ? 'SQLITE_READONLY_DBMOVED' : `SQLITE_${CODES[code & 0xff] ?? 'ERROR'}`;
}

/** An extended result code, which is not reduced to its primary one: the low byte. */
const READONLY_DBMOVED = 1032;

/** By primary result code: https://sqlite.org/rescode.html */
const CODES: readonly string[] = (
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL ' +
  'EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'
).split(' ');

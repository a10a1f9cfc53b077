import { join } from 'node:path';
import type { StoreFacts } from '../../core/check-machine.ts';
import { inspectPath } from '@assay-mcp/kit/platform/machine';
import { type Database, openDatabase, readPragma } from '@assay-mcp/kit/platform/sqlite';
import { err, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import type { Db, Dialect } from './dialect.ts';
import { toStoreRefusal } from './driver-faults.ts';
import { findSchemaFault, readVersions } from './migrations.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import { readKeys } from './key-rows.ts';
import { readSettings } from './record-rows.ts';
import { createSqlStore, type StoreCalls } from './sql-store.ts';
import { createKysely, createSqliteDialect } from './sqlite-dialect.ts';

export interface StorePlace {
  readonly home: string;
  /** A `postgres://` URL. Undefined for `assay.db` in the home folder. */
  readonly databaseUrl: string | undefined;
}

/** Whether the store is readable, intact and of this version. Never creates, renames or changes it. */
export function inspectStore({ home, databaseUrl }: StorePlace): Promise<StoreFacts> {
  return databaseUrl === undefined ? inspectSqlite(join(home, 'assay.db')) : inspectPostgres(databaseUrl);
}

async function inspectSqlite(place: string): Promise<StoreFacts> {
  const file = { kind: 'file', place } as const;
  if ((await inspectPath(place)) === undefined) return { ...file, is: 'absent' };
  return judged(file, () =>
    withSqlite(place, async (db, dialect, database) => {
      const tables = await inspectTables(db, dialect);
      if (tables.is !== 'whole') return tables;
      const found = readPragma(database, 'quick_check(1)');
      return found === 'ok' ? tables : { is: 'at_fault', fault: 'its pages contradict each other' };
    }),
  );
}

/** Runs `work` on a file that exists, read-only. Rejects with the error of SQLite. */
async function withSqlite<T>(
  place: string,
  work: (db: Db, dialect: Dialect, database: Database) => Promise<T>,
): Promise<T> {
  // Even to read a database, SQLite creates files beside it, unless it is told that nobody else has it open.
  const isInUse = ((await inspectPath(`${place}-wal`))?.bytes ?? 0) > 0;
  const database = openDatabase(place, { mode: isInUse ? 'read' : 'read_alone' });
  try {
    const db = createKysely(database);
    return await work(db, createSqliteDialect(place, { database, db }), database);
  } finally {
    database.close();
  }
}

/** What a store that is whole has, for checks that go further than `inspectStore`. */
export interface ReadableStore {
  /** Versions of the applied migrations. */
  readonly migrations: readonly number[];
  /** For reading only. */
  readonly calls: StoreCalls;
  /** Undefined if all pages and indexes agree. Always with PostgreSQL, which checks pages as it reads them. */
  readonly damage: string | undefined;
}

/** Runs `work` on a store of which `inspectStore` says that it is whole. Never migrates or changes it. */
export async function withReadableStore<T>(
  { home, databaseUrl }: StorePlace,
  work: (store: ReadableStore) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  const read = async (db: Db, dialect: Dialect, database?: Database): Promise<Result<T, Refusal>> => {
    const { calls } = createSqlStore(dialect, () => Promise.resolve());
    const found = database && readPragma(database, 'integrity_check(1)');
    const damage = typeof found === 'string' && found !== 'ok' ? found : undefined;
    return work({ migrations: [...(await readVersions(db, dialect))], calls, damage });
  };
  try {
    if (databaseUrl === undefined) return await withSqlite(join(home, 'assay.db'), read);
    const { withPostgres } = await import('./postgres-store.ts');
    return await withPostgres(databaseUrl, read);
  } catch (error) {
    const refusal = toStoreRefusal(error);
    if (refusal === undefined) throw error;
    return err(refusal);
  }
}

async function inspectPostgres(databaseUrl: string): Promise<StoreFacts> {
  const url = parsePostgresUrl(databaseUrl);
  // The whole URL would disclose the password.
  const place = url === undefined ? 'ASSAY_DATABASE_URL' : `${url.host}${url.pathname}`;
  const database = { kind: 'database', place } as const;
  if (url === undefined)
    return { ...database, is: 'at_fault', fault: 'it is not a URL that starts with postgres://' };
  const { withPostgres } = await import('./postgres-store.ts');
  return judged(database, () => withPostgres(databaseUrl, inspectTables));
}

/** A database without tables counts as intact. */
async function inspectTables(
  db: Db,
  dialect: Dialect,
): Promise<Pick<StoreFacts, 'is' | 'settings' | 'keyCheck'>> {
  if (!(await dialect.hasTable(db, 'assay_migrations'))) return { is: 'whole' };
  const fault = await findSchemaFault(db, dialect);
  if (fault !== undefined) return { is: fault.code === 'SCHEMA_TOO_OLD' ? 'earlier' : 'newer' };
  const [keyCheck] = await readKeys(db, 'key-check');
  return { is: 'whole', settings: await readSettings(db), keyCheck };
}

type StoreLocation = Pick<StoreFacts, 'kind' | 'place'>;

async function judged(
  store: StoreLocation,
  look: () => Promise<Omit<StoreFacts, keyof StoreLocation>>,
): Promise<StoreFacts> {
  try {
    return { ...store, ...(await look()) };
  } catch (error) {
    const refusal = toStoreRefusal(error);
    const fault = refusal?.code === 'STORE_UNAVAILABLE' ? refusal.reason : 'it cannot be read';
    return { ...store, is: 'at_fault', fault };
  }
}

import { join } from 'node:path';
import type { StoreFacts } from '../../core/check-machine.ts';
import { inspectPath } from '@assay-mcp/kit/platform/machine';
import { openDatabase, readPragma } from '@assay-mcp/kit/platform/sqlite';
import type { Db, Dialect } from './dialect.ts';
import { toStoreRefusal } from './driver-faults.ts';
import { findSchemaFault } from './migrations.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import { readSettings } from './record-rows.ts';
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
  return judged(file, async () => {
    // Even to read a database, SQLite creates files beside it, unless it is told that nobody else has it open.
    const isInUse = ((await inspectPath(`${place}-wal`))?.bytes ?? 0) > 0;
    const database = openDatabase(place, { mode: isInUse ? 'read' : 'read_alone' });
    try {
      const db = createKysely(database);
      const tables = await inspectTables(db, createSqliteDialect(place, { database, db }));
      if (tables.is !== 'whole') return tables;
      const found = readPragma(database, 'quick_check(1)');
      return found === 'ok' ? tables : { is: 'at_fault', fault: 'its pages contradict each other' };
    } finally {
      database.close();
    }
  });
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
async function inspectTables(db: Db, dialect: Dialect): Promise<Pick<StoreFacts, 'is' | 'settings'>> {
  if (!(await dialect.hasMigrations(db))) return { is: 'whole' };
  const fault = await findSchemaFault(db, dialect);
  if (fault !== undefined) return { is: fault.code === 'SCHEMA_TOO_OLD' ? 'earlier' : 'newer' };
  return { is: 'whole', settings: await readSettings(db) };
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

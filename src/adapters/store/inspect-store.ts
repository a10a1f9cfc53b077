import { join } from 'node:path';
import type { StoreFacts } from '../../core/check-machine.ts';
import { inspectPath, readBytes } from '../../platform/machine.ts';
import type { Db, Dialect } from './dialect.ts';
import { toStoreRefusal } from './driver-faults.ts';
import { findSchemaFault } from './migrations.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import { readSettings } from './record-rows.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import type { Tables } from './tables.ts';

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
  const { default: SqliteDatabase } = await import('better-sqlite3');
  const { Kysely, SqliteDialect } = await import('kysely');
  return judged(file, async () => {
    const isInUse = ((await inspectPath(`${place}-wal`))?.bytes ?? 0) > 0;
    const database = isInUse
      ? new SqliteDatabase(place, { readonly: true, fileMustExist: true })
      : new SqliteDatabase(readableAlone(await readBytes(place)));
    try {
      const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
      const tables = await inspectTables(db, createSqliteDialect(place, { database, db }));
      if (tables.is !== 'whole') return tables;
      const found = database.pragma('quick_check(1)', { simple: true });
      return found === 'ok' ? tables : { is: 'at_fault', fault: 'its pages contradict each other' };
    } finally {
      database.close();
    }
  });
}

/** Header bytes that mark a write-ahead log: https://www.sqlite.org/fileformat.html#file_format_version_numbers */
const LOG_MARKS: readonly number[] = [18, 19];

/**
 * An in-memory copy, since SQLite creates files beside a database even to read it. Only for a database that is not in
 * use: everything written is then in the file itself, so the copy need not look for a log.
 */
function readableAlone(bytes: Buffer): Buffer {
  for (const at of LOG_MARKS) if (bytes[at] === 2) bytes[at] = 1;
  return bytes;
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

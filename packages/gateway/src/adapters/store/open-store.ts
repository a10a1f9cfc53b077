import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Log } from '../../gateway/ports/log.ts';
import type { Store } from '../../gateway/ports/store.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';
import type { RestTimes } from './sqlite-thread.ts';

export { meterStore } from './metered-store.ts';

export interface StoreOptions {
  /** Folder of `assay.db`; created if missing. */
  readonly home: string;
  /** A `postgres://` URL of a database to use instead. */
  readonly databaseUrl: string | undefined;
  readonly log: Log;
  /** When the thread of an idle SQLite store ends; by default after some seconds. */
  readonly rest?: RestTimes | undefined;
}

/**
 * Opens the store; the caller closes it. STORE_UNAVAILABLE if it cannot be opened now, SCHEMA_TOO_NEW if a newer Assay
 * wrote it, SCHEMA_TOO_OLD if an earlier build created its tables in PostgreSQL, STORE_DAMAGED if a damaged file was
 * renamed, SETTING_INVALID for any other URL.
 */
export async function openStore({
  home,
  databaseUrl,
  log,
  rest,
}: StoreOptions): Promise<Result<Store, Refusal>> {
  if (databaseUrl === undefined) return openSqlite({ home, log, rest });
  if (parsePostgresUrl(databaseUrl) === undefined)
    return err({
      code: 'SETTING_INVALID',
      name: 'ASSAY_DATABASE_URL',
      reason: 'it must be a URL that begins with postgres:// or postgresql://, with % as %25',
    });
  // Loaded only if needed: it takes longer than the rest of the start.
  const { openPostgresStore } = await import('./postgres-store.ts');
  return openPostgresStore(databaseUrl, log);
}

async function openSqlite(options: SqliteStoreOptions): Promise<Result<Store, Refusal>> {
  const store = new SqliteStore(options);
  const opened = await store.open();
  if (opened.ok) return ok(store);
  await store.close();
  return opened;
}

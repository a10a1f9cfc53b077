import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Log } from '../../gateway/ports/link.ts';
import type { Store } from '../../gateway/ports/store.ts';
import { postgresUrl } from './postgres-url.ts';
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';
import type { RestTimes } from './sqlite-thread.ts';

export interface StoreOptions {
  /** Folder of `assay.db`; made where there is none. */
  readonly home: string;
  /** A `postgres://` URL, whose database is used instead. */
  readonly databaseUrl: string | undefined;
  readonly log: Log;
  /** When the thread of a SQLite store rests; by default after some seconds. */
  readonly rest?: RestTimes | undefined;
}

/**
 * Opens the store; who opens it closes it. STORE_UNAVAILABLE where that cannot be done now, SCHEMA_TOO_NEW where a newer
 * Assay wrote it, STORE_DAMAGED where it had to be set aside, SETTING_INVALID for a URL of something else.
 */
export async function openStore({
  home,
  databaseUrl,
  log,
  rest,
}: StoreOptions): Promise<Result<Store, Refusal>> {
  if (databaseUrl === undefined) return openSqlite({ home, log, rest });
  if (postgresUrl(databaseUrl) === undefined)
    return err({
      code: 'SETTING_INVALID',
      name: 'ASSAY_DATABASE_URL',
      reason: 'it must be a URL that begins with postgres:// or postgresql://, with % as %25',
    });
  // Loaded only where it is used: it takes longer than all else at a start.
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

import { Kysely, PostgresDialect, sql, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Log } from '../../gateway/ports/log.ts';
import type { Store } from '../../gateway/ports/store.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import type { Db, Dialect, Trx, Writable } from './dialect.ts';
import { toStoreRefusal } from './driver-faults.ts';
import { ConfirmedWrites } from './confirmed-write.ts';
import { StoreListeners } from './store-listeners.ts';
import { migrate } from './migrations.ts';
import { PostgresChanges } from './postgres-changes.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import { createSqlStore, type StoreCalls } from './sql-store.ts';
import type { Tables } from './tables.ts';

/** Timeouts in ms: for connecting, for another writer's lock, for a statement, and for any response. */
const CONNECT_MS = 5_000;
const LOCK_MS = 5_000;
const STATEMENT_MS = 10_000;
const ANSWER_MS = 15_000;
const KEEP_ALIVE_MS = 10_000;
const MAX_CONNECTIONS = 4;

/** The store in the first schema of the search path of a PostgreSQL database. */
export async function openPostgresStore(databaseUrl: string, log: Log): Promise<Result<Store, Refusal>> {
  const config = configOf(databaseUrl);
  const db = connect(config, MAX_CONNECTIONS);
  const dialect = postgresDialect(placeOf(databaseUrl), db);
  const migrated = await opening(dialect, async () => {
    const done = await migrate(db, dialect);
    return done.ok || done.error.code !== 'SCHEMA_TOO_OLD'
      ? done
      : err({ ...done.error, schema: await currentSchema(db) });
  });
  if (!migrated.ok) {
    await db.destroy();
    return migrated;
  }
  const listeners: StoreListeners = new StoreListeners({
    first: () => changes.start(),
    none: () => changes.stop(),
  });
  const notify = (payload: string): Promise<unknown> => sendNotification(db, payload);
  const changes = new PostgresChanges({ config, listeners, log, notify });
  const { calls, settled } = createSqlStore(dialect, (parts) => {
    if (!changes.isFollowing) listeners.notify(parts);
    return Promise.resolve();
  });
  return ok(
    storeOf({ calls, listeners, changes }, async () => {
      listeners.end();
      changes.stop();
      await settled();
      await waitAtMost(changes.over, CONNECT_MS);
      await db.destroy();
    }),
  );
}

async function sendNotification(db: Trx, payload: string): Promise<void> {
  await sql`select pg_notify('assay', ${payload})`.execute(db);
}

async function currentSchema(db: Trx): Promise<string> {
  const { rows } = await sql<{ readonly name: string | null }>`select current_schema() as name`.execute(db);
  return rows[0]?.name ?? '';
}

/** Runs `work` on a database whose tables may be absent or of another version. Rejects with the driver's error. */
export async function withPostgres<T>(
  databaseUrl: string,
  work: (db: Db, dialect: Dialect) => Promise<T>,
): Promise<T> {
  const db = connect(configOf(databaseUrl), 1);
  try {
    return await work(db, postgresDialect(placeOf(databaseUrl), db));
  } finally {
    await db.destroy();
  }
}

function connect(config: pg.ClientConfig, max: number): Kysely<Tables> {
  const pool = new pg.Pool({ ...config, max, allowExitOnIdle: true });
  // The pool drops lost connections; a query running on one fails with the error.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const connections = {
    connect: async (): Promise<PostgresPoolClient> => discardingWhenBroken(await pool.connect()),
    end: () => pool.end(),
    options: pool.options,
  };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: connections }) });
}

/**
 * A connection that did not answer in time may be stalled for good, though it is still open. The pool must not hand it
 * out again.
 */
function discardingWhenBroken(client: pg.PoolClient): PostgresPoolClient {
  let fault: Error | undefined;
  const query = async (...args: unknown[]): Promise<unknown> => {
    if (fault !== undefined) throw fault;
    try {
      return await (client.query as (...all: unknown[]) => Promise<unknown>)(...args);
    } catch (error) {
      if (error instanceof Error && !(error instanceof pg.DatabaseError)) fault = error;
      throw error;
    }
  };
  return { query: query as PostgresPoolClient['query'], release: () => client.release(fault) };
}

interface StoreParts {
  readonly calls: StoreCalls;
  readonly listeners: StoreListeners;
  readonly changes: PostgresChanges;
}

function storeOf({ calls, listeners, changes }: StoreParts, end: () => Promise<void>): Store {
  let closing: Promise<void> | undefined;
  return {
    ...calls,
    get fault() {
      return changes.fault;
    },
    heardMs: () => changes.heardMs,
    onChange: (listener) => listeners.add(listener),
    close: () => (closing ??= end()),
  };
}

/** Times and counts are integers far below 2^53, which pg would return as text. */
const INT8 = pg.types.builtins.INT8;

type Parser = (value: string) => unknown;
const parserOf: (oid: number, format?: 'text' | 'binary') => Parser = pg.types.getTypeParser;

function configOf(databaseUrl: string): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: 'assay',
    connectionTimeoutMillis: CONNECT_MS,
    lock_timeout: LOCK_MS,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser: (oid, format): Parser => (oid === INT8 ? Number : parserOf(oid, format)) },
  };
}

/** Host and database only, without credentials. */
function placeOf(databaseUrl: string): string {
  const url = parsePostgresUrl(databaseUrl);
  return url === undefined ? 'PostgreSQL' : decodeURIComponent(`${url.host}${url.pathname}`);
}

async function opening(
  { place }: Dialect,
  work: () => Promise<Result<undefined, Refusal>>,
): Promise<Result<undefined, Refusal>> {
  try {
    return await work();
  } catch (error) {
    const refusal = toStoreRefusal(error);
    if (refusal?.code !== 'STORE_UNAVAILABLE') throw error;
    return err({ ...refusal, reason: `${JSON.stringify(place)}: ${refusal.reason}` });
  }
}

/** Separates our advisory locks from those of other programs in the same database ("assa"). */
const LOCK_SPACE = 0x61737361;
const LOCKS: Readonly<Record<Writable, number>> = {
  schema: 0,
  tokens: 1,
  keys: 2,
  credentials: 3,
  records: 4,
  audit: 5,
  sessions: 6,
  calls: 7,
  labels: 8,
  approvals: 9,
  session_toolsets: 10,
  stored_results: 11,
};

function postgresDialect(place: string, db: Kysely<Tables>): Dialect {
  const writes = new ConfirmedWrites(db);
  return {
    place,
    bytes: 'bytea',
    whole: 'bigint',
    async hasMigrations(trx) {
      // `to_regclass` would answer from a cache and miss a table created while this session waited for its lock.
      const found = await sql`
        select 1 from pg_tables where schemaname = current_schema() and tablename = 'assay_migrations'`.execute(
        trx,
      );
      return found.rows.length > 0;
    },
    prepareAnnouncing: () => Promise.resolve(),
    async announce(trx, part) {
      await sendNotification(trx, part);
    },
    read: (work) =>
      db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    write(what, work) {
      const locked = async (trx: Trx): ReturnType<typeof work> => {
        // A fixed order avoids deadlocks between writers that take several locks.
        for (const lock of what.map((part) => LOCKS[part]).sort((one, other) => one - other))
          await sql`select pg_advisory_xact_lock(${LOCK_SPACE}, ${lock})`.execute(trx);
        return work(trx);
      };
      // The table of markers does not exist yet; if the outcome is unknown, the next start repeats it.
      return what.includes('schema') ? db.transaction().execute(locked) : writes.run(locked);
    },
  };
}

import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Log } from '../../gateway/ports/log.ts';
import type { Store } from '../../gateway/ports/store.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { getErrorCode } from '@assay-mcp/kit/platform/sqlite';
import type { Db, Dialect, Trx, Writable } from './dialect.ts';
import { toStoreRefusal } from './driver-faults.ts';
import { ConfirmedWrites } from './confirmed-write.ts';
import { StoreListeners } from './store-listeners.ts';
import { migrate } from './migrations.ts';
import { PostgresChanges } from './postgres-changes.ts';
import { PostgresPool } from './postgres-pool.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import { createSqlStore, type StoreCalls } from './sql-store.ts';
import type { Tables } from './tables.ts';

/** Timeouts in ms: for connecting, for another writer's lock, for a statement, and for any response. */
const CONNECT_MS = 5_000;
const LOCK_MS = 5_000;
const STATEMENT_MS = 10_000;
const ANSWER_MS = 15_000;
/** Timeout in ms for a statement of a migration, such as an index on a large table. Others wait for its lock and retry. */
const MIGRATE_MS = 600_000;
const KEEP_ALIVE_MS = 10_000;
const MAX_CONNECTIONS = 4;

/** The store in the first schema of the search path of a PostgreSQL database. */
export async function openPostgresStore(databaseUrl: string, log: Log): Promise<Result<Store, Refusal>> {
  const config = configOf(databaseUrl);
  const pool = new PostgresPool(config, MAX_CONNECTIONS);
  const { db } = pool;
  const dialect = postgresDialect(databaseUrl, db);
  const migrated = await opening(dialect, async () => {
    const done = await migrate(db, dialect);
    return done.ok || done.error.code !== 'SCHEMA_TOO_OLD'
      ? done
      : err({ ...done.error, schema: await currentSchema(db) });
  });
  if (!migrated.ok) {
    await pool.close();
    return migrated;
  }
  const listeners: StoreListeners = new StoreListeners({
    first: () => changes.start(),
    none: () => changes.stop(),
  });
  const notify = (payload: string): Promise<unknown> => sendNotification(db, payload);
  const readRevision = async (): Promise<number> => {
    const state = db.selectFrom('assay_record_state').select('last_revision');
    return (await state.executeTakeFirstOrThrow()).last_revision;
  };
  const changes = new PostgresChanges({ config, listeners, log, notify, readRevision });
  const { calls, settled } = createSqlStore(dialect, (parts) => {
    if (!changes.isFollowing) listeners.notify(parts);
    return Promise.resolve();
  });
  return ok(
    storeOf({ calls, listeners, changes, pool }, async () => {
      listeners.end();
      changes.stop();
      await settled();
      await waitAtMost(changes.over, CONNECT_MS);
      await pool.close();
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
  const pool = new PostgresPool(configOf(databaseUrl), 1);
  try {
    return await work(pool.db, postgresDialect(databaseUrl, pool.db));
  } finally {
    await pool.close();
  }
}

interface StoreParts {
  readonly calls: StoreCalls;
  readonly listeners: StoreListeners;
  readonly changes: PostgresChanges;
  readonly pool: PostgresPool;
}

function storeOf({ calls, listeners, changes, pool }: StoreParts, end: () => Promise<void>): Store {
  let closing: Promise<void> | undefined;
  return {
    ...calls,
    get fault() {
      return pool.fault ?? changes.fault;
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
    const advice = CANNOT_MIGRATE.has(getErrorCode(error)) ? MIGRATING : '';
    return err({ ...refusal, reason: `${JSON.stringify(place)}: ${refusal.reason}${advice}` });
  }
}

/** Insufficient privilege, and a read-only transaction, as on a standby. */
const CANNOT_MIGRATE: ReadonlySet<string> = new Set(['42501', '25006']);
const MIGRATING =
  '. Each build creates the tables and columns that it needs when it starts: start this one once with a user that may, at a database that can be written';

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
  legacy_sessions: 12,
  session_answers: 13,
};

function postgresDialect(databaseUrl: string, db: Kysely<Tables>): Dialect {
  const writes = new ConfirmedWrites(db);
  return {
    place: placeOf(databaseUrl),
    bytes: 'bytea',
    whole: 'bigint',
    async hasTable(trx, name) {
      // `to_regclass` would answer from a cache and miss a table created while this session waited for its lock.
      const found = await sql`
        select 1 from pg_tables where schemaname = current_schema() and tablename = ${name}`.execute(trx);
      return found.rows.length > 0;
    },
    async readClock(trx) {
      const clock = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`.as('nowMs');
      return (await trx.selectNoFrom(clock).executeTakeFirstOrThrow()).nowMs;
    },
    prepareAnnouncing: () => Promise.resolve(),
    async announce(trx, part, key) {
      await sendNotification(trx, key === undefined ? part : `${part} ${key}`);
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
      return what.includes('schema') ? inMigration(databaseUrl, locked) : writes.run(locked);
    },
  };
}

async function inMigration<T>(databaseUrl: string, work: (trx: Trx) => Promise<T>): Promise<T> {
  const limits = { statement_timeout: MIGRATE_MS, query_timeout: MIGRATE_MS + ANSWER_MS };
  const pool = new PostgresPool({ ...configOf(databaseUrl), ...limits }, 1);
  try {
    return await pool.db.transaction().execute(work);
  } finally {
    await pool.close();
  }
}

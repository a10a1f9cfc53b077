import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import { BASELINE_VERSION, createBaseline } from './baseline.ts';
import type { Db, Dialect, Trx } from './dialect.ts';
import { SCHEMA_EDITION } from './tables.ts';

/** One step of the schema. Its version is its position in the list, from 1. */
export interface Migration {
  readonly version: number;
  /** Runs in a transaction of its own that no other process can be in at the same time. */
  apply(trx: Trx, dialect: Dialect): Promise<void>;
}

/**
 * All migrations; append new ones. After the first, a migration only adds tables, non-unique indexes, and columns that
 * are nullable or have a default, so that earlier builds of this edition keep working on the same tables. Such builds do
 * not write the new columns and know no new records: a row may be newer than what a new column says of it.
 */
export const MIGRATIONS: readonly Migration[] = [
  { version: BASELINE_VERSION, apply: createBaseline },
  { version: 2, apply: createLegacySessions },
];

async function createLegacySessions(trx: Trx, { bytes, whole }: Dialect): Promise<void> {
  await trx.schema
    .createTable('assay_legacy_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('revision', whole, (column) => column.notNull())
    .addColumn('is_ended', whole, (column) => column.notNull())
    .addColumn('used_ms', whole, (column) => column.notNull())
    .addColumn('expires_ms', whole, (column) => column.notNull())
    .addColumn('state_json', 'text', (column) => column.notNull())
    .addColumn('size_bytes', whole, (column) => column.notNull())
    .execute();
  const indexes = [
    ['revision', ['revision']],
    ['subject', ['subject_json', 'expires_ms']],
    ['expiry', ['expires_ms']],
  ] as const;
  for (const [name, columns] of indexes)
    await trx.schema
      .createIndex(`assay_legacy_sessions_${name}`)
      .on('assay_legacy_sessions')
      .columns([...columns])
      .execute();
  await trx.schema
    .createTable('assay_legacy_session_state')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_revision', whole, (column) => column.notNull())
    .execute();
  await trx.insertInto('assay_legacy_session_state').values({ id: 1, last_revision: 0 }).execute();
  await trx.schema
    .createTable('assay_session_answers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('replica', 'text', (column) => column.notNull())
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('sealed', bytes, (column) => column.notNull())
    .addColumn('expires_ms', whole, (column) => column.notNull())
    .execute();
}

/**
 * Applies the migrations that the database lacks; it may have more than this build knows. SCHEMA_TOO_OLD or
 * SCHEMA_TOO_NEW if it has tables that this build cannot use.
 */
export async function migrate(
  db: Db,
  dialect: Dialect,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Result<undefined, Refusal>> {
  const fault = await findSchemaFault(db, dialect);
  if (fault !== undefined) return err(fault);
  const applied = await readVersions(db, dialect);
  for (const migration of migrations) {
    if (applied.has(migration.version)) continue;
    const foreign = await dialect.write(['schema'], (trx) => applyOnce(trx, dialect, migration));
    if (foreign !== undefined) return err(foreign);
  }
  return ok(undefined);
}

/** Another process may have applied it, or created other tables, while this one waited for its lock. */
async function applyOnce(trx: Trx, dialect: Dialect, migration: Migration): Promise<Refusal | undefined> {
  const fault = await findSchemaFault(trx, dialect);
  if (fault !== undefined) return fault;
  const { version } = migration;
  if ((await readVersions(trx, dialect)).has(version)) return undefined;
  await migration.apply(trx, dialect);
  if (version === BASELINE_VERSION) return undefined;
  await trx.schema
    .createTable(ADDED)
    .ifNotExists()
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .addColumn('applied_ms', dialect.whole, (column) => column.notNull())
    .execute();
  await trx.insertInto(ADDED).values({ version, applied_ms: Date.now() }).execute();
  return undefined;
}

/** A table of its own, because builds that know only the baseline refuse any other version in `assay_migrations`. */
const ADDED = 'assay_added_migrations';

/** SCHEMA_TOO_OLD or SCHEMA_TOO_NEW if there are tables that this program cannot use. */
export async function findSchemaFault(db: Trx, dialect: Dialect): Promise<Refusal | undefined> {
  const baseline = await readBaseline(db, dialect);
  if (baseline === undefined) return undefined;
  const { place } = dialect;
  const { version, edition } = baseline;
  if (edition < SCHEMA_EDITION) return { code: 'SCHEMA_TOO_OLD', place };
  if (edition > SCHEMA_EDITION)
    return { code: 'SCHEMA_TOO_NEW', place, found: edition, known: SCHEMA_EDITION };
  return version > BASELINE_VERSION
    ? { code: 'SCHEMA_TOO_NEW', place, found: version, known: BASELINE_VERSION }
    : undefined;
}

interface Baseline {
  readonly version: number;
  /** 0 in tables of builds that did not number editions yet. */
  readonly edition: number;
}

/** Undefined if there are no tables. */
async function readBaseline(db: Trx, dialect: Dialect): Promise<Baseline | undefined> {
  if (!(await dialect.hasTable(db, 'assay_migrations'))) return undefined;
  const row = await db
    .selectFrom('assay_migrations')
    .selectAll()
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { version: row?.version ?? 0, edition: row?.edition ?? 0 };
}

/** The versions of all applied migrations, including those that only newer builds know. */
export async function readVersions(db: Trx, dialect: Dialect): Promise<ReadonlySet<number>> {
  const baseline = await readBaseline(db, dialect);
  if (baseline === undefined) return new Set();
  const added = (await dialect.hasTable(db, ADDED))
    ? await db.selectFrom(ADDED).select('version').orderBy('version').execute()
    : [];
  return new Set([BASELINE_VERSION, ...added.map(({ version }) => version)]);
}

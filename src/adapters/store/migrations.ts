import { sql } from 'kysely';
import { err, ok, type Result } from '../../core/result.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Db, Dialect, Trx } from './dialect.ts';

type Migration = (trx: Trx, dialect: Dialect) => Promise<void>;

/**
 * Migrates the tables to the newest version, one transaction per step. SCHEMA_TOO_NEW if a newer program wrote them.
 */
export async function migrate(db: Db, dialect: Dialect): Promise<Result<undefined, Refusal>> {
  for (;;) {
    const newer = await newerThanKnown(db, dialect);
    if (newer !== undefined) return err(newer);
    const found = await versionOf(db, dialect);
    const next = MIGRATIONS[found];
    if (next === undefined) return ok(undefined);
    await dialect.write(['schema'], async (trx) => {
      // Another process may have migrated while this one waited for its lock.
      if ((await versionOf(trx, dialect)) !== found) return;
      await next(trx, dialect);
      await trx
        .insertInto('assay_migrations')
        .values({ version: found + 1, applied_ms: Date.now() })
        .execute();
    });
  }
}

/** SCHEMA_TOO_NEW if the tables have a version that this program does not know. */
export async function newerThanKnown(db: Trx, dialect: Dialect): Promise<Refusal | undefined> {
  const found = await versionOf(db, dialect);
  const known = MIGRATIONS.length;
  return found > known ? { code: 'SCHEMA_TOO_NEW', place: dialect.place, found, known } : undefined;
}

/** Number of the last applied migration. */
async function versionOf(db: Trx, dialect: Dialect): Promise<number> {
  if (!(await dialect.hasMigrations(db))) return 0;
  const row = await db
    .selectFrom('assay_migrations')
    .select((build) => build.fn.max('version').as('version'))
    .executeTakeFirst();
  return row?.version ?? 0;
}

/** Forward only: never change a released migration; append a new one. */
const MIGRATIONS: readonly Migration[] = [
  async (trx, dialect) => {
    const { whole } = dialect;
    const { schema } = trx;
    await schema
      .createTable('assay_migrations')
      .addColumn('version', 'integer', (column) => column.primaryKey())
      .addColumn('applied_ms', whole, (column) => column.notNull())
      .execute();
    await dialect.prepareAnnouncing(trx);
    await schema
      .createTable('assay_tokens')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('scopes_json', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('created_ms', whole, (column) => column.notNull())
      .addColumn('expires_ms', whole)
      .addColumn('revoked_ms', whole)
      .execute();
    await schema
      .createIndex('assay_tokens_name')
      .unique()
      .on('assay_tokens')
      .column('name')
      .where(sql<boolean>`revoked_ms is null`)
      .execute();
    await schema
      .createTable('assay_keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('purpose', 'text', (column) => column.notNull())
      .addColumn('bytes', dialect.bytes, (column) => column.notNull())
      .addColumn('created_ms', whole, (column) => column.notNull())
      .execute();
  },
  async ({ schema }, { bytes, whole }) => {
    await schema
      .createTable('assay_credentials')
      .addColumn('server', 'text', (column) => column.notNull())
      .addColumn('identity', 'text', (column) => column.notNull())
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('sealed', bytes, (column) => column.notNull())
      .addColumn('expires_ms', whole)
      .addColumn('saved_ms', whole, (column) => column.notNull())
      .addColumn('revision', whole, (column) => column.notNull())
      .addColumn('lease_holder', 'text')
      .addColumn('lease_until_ms', whole)
      .addPrimaryKeyConstraint('assay_credentials_key', ['server', 'identity', 'issuer', 'subject'])
      .execute();
  },
  async (trx, dialect) => {
    await createRecords(trx, dialect);
    await createAudit(trx, dialect);
  },
  createSessions,
  createCalls,
  createLabels,
  createApprovals,
  createCharges,
  createMarkers,
  createSessionToolsets,
  addServerKey,
  addPrunedRevision,
];

async function addPrunedRevision({ schema }: Trx, { whole }: Dialect): Promise<void> {
  await schema
    .alterTable('assay_record_state')
    .addColumn('pruned_revision', whole, (column) => column.notNull().defaultTo(0))
    .execute();
}

async function createCharges({ schema }: Trx, { whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_charges')
    .addColumn('charged', 'text', (column) => column.notNull())
    .addColumn('row', 'text', (column) => column.notNull())
    .addColumn('peer_json', 'text', (column) => column.notNull())
    .addColumn('at_ms', whole, (column) => column.notNull())
    .addColumn('bytes', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('assay_charges_key', ['charged', 'row'])
    .execute();
  // Sums need nothing but this index.
  await schema
    .createIndex('assay_charges_peer')
    .on('assay_charges')
    .columns(['charged', 'peer_json', 'at_ms', 'bytes'])
    .execute();
}

/** Used with PostgreSQL only. */
async function createMarkers({ schema }: Trx, { whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_markers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('written_ms', whole, (column) => column.notNull())
    .execute();
}

async function createSessionToolsets({ schema }: Trx, { whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_session_toolsets')
    .addColumn('client', 'text', (column) => column.primaryKey())
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('toolset', 'text')
    .addColumn('equippings', whole, (column) => column.notNull())
    .addColumn('expires_ms', whole, (column) => column.notNull())
    .execute();
}

async function addServerKey({ schema }: Trx): Promise<void> {
  await schema
    .alterTable('assay_approvals')
    .addColumn('server_key', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
}

async function createApprovals({ schema }: Trx, { whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_approvals')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('session', 'text', (column) => column.notNull())
    .addColumn('tool_key', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('arguments_hash', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('created_ms', whole, (column) => column.notNull())
    .addColumn('expires_ms', whole)
    .addColumn('scope', 'text')
    .addColumn('answered_ms', whole)
    .addColumn('answered_by_json', 'text')
    .addColumn('reason_json', 'text')
    .addColumn('request_json', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('assay_approvals_tool')
    .on('assay_approvals')
    .columns(['tool_key', 'digest'])
    .execute();
  await schema
    .createIndex('assay_approvals_created')
    .on('assay_approvals')
    .columns(['created_ms', 'id'])
    .execute();
}

/** The version of the tables that this program writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;

async function createLabels({ schema }: Trx, { whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_labels')
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('source_json', 'text', (column) => column.notNull())
    .addColumn('since_ms', whole, (column) => column.notNull())
    .addColumn('seen_ms', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('assay_labels_key', ['subject_json', 'label'])
    .execute();
}

async function createRecords(trx: Trx, { whole }: Dialect): Promise<void> {
  await trx.schema
    .createTable('assay_records')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('id_json', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('revision', whole, (column) => column.notNull())
    .addColumn('body_json', 'text')
    .addPrimaryKeyConstraint('assay_records_key', ['kind', 'id_json'])
    .execute();
  await trx.schema
    .createIndex('assay_records_revision')
    .unique()
    .on('assay_records')
    .column('revision')
    .execute();
  await trx.schema
    .createTable('assay_record_state')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_revision', whole, (column) => column.notNull())
    .execute();
  await sql`insert into assay_record_state (id, last_revision) values (1, 0)`.execute(trx);
  await trx.schema
    .createTable('assay_accepted')
    .addColumn('id_json', 'text', (column) => column.primaryKey())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('text_json', 'text', (column) => column.notNull())
    .execute();
}

async function createAudit(trx: Trx, { whole }: Dialect): Promise<void> {
  await trx.schema
    .createTable('assay_audit')
    .addColumn('id', whole, (column) => column.primaryKey())
    .addColumn('at_ms', whole, (column) => column.notNull())
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('target_kind', 'text', (column) => column.notNull())
    .addColumn('target_id_json', 'text', (column) => column.notNull())
    .addColumn('target_name_json', 'text', (column) => column.notNull())
    .addColumn('before_json', 'text')
    .addColumn('after_json', 'text')
    .execute();
  // Few targets share an id, so this index also serves queries for an id and a kind.
  await trx.schema
    .createIndex('assay_audit_target')
    .on('assay_audit')
    .columns(['target_id_json', 'id'])
    .execute();
  await trx.schema.createIndex('assay_audit_kind').on('assay_audit').columns(['target_kind', 'id']).execute();
  await trx.schema
    .createTable('assay_audit_state')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_event', whole, (column) => column.notNull())
    .execute();
  await trx.insertInto('assay_audit_state').values({ id: 1, last_event: 0 }).execute();
}

async function createSessions({ schema }: Trx, { whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('scopes_json', 'text', (column) => column.notNull())
    .addColumn('credential', 'text', (column) => column.notNull())
    .addColumn('created_ms', whole, (column) => column.notNull())
    .addColumn('used_ms', whole, (column) => column.notNull())
    .addColumn('expires_ms', whole, (column) => column.notNull())
    .execute();
}

async function createCalls(trx: Trx, { whole }: Dialect): Promise<void> {
  await trx.schema
    .createTable('assay_calls')
    .addColumn('id', whole, (column) => column.primaryKey())
    .addColumn('chain', 'text', (column) => column.notNull())
    .addColumn('seq', whole, (column) => column.notNull())
    .addColumn('previous', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('at_ms', whole, (column) => column.notNull())
    .addColumn('subject_json', 'text')
    .addColumn('server_json', 'text')
    .addColumn('tool_json', 'text')
    .addColumn('decision', 'text')
    .addColumn('outcome', 'text')
    .addColumn('entry_json', 'text', (column) => column.notNull())
    .execute();
  await trx.schema
    .createIndex('assay_calls_chain')
    .unique()
    .on('assay_calls')
    .columns(['chain', 'seq'])
    .execute();
  await trx.schema
    .createTable('assay_call_state')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_call', whole, (column) => column.notNull())
    .addColumn('pruned_call', whole, (column) => column.notNull())
    .execute();
  await trx.insertInto('assay_call_state').values({ id: 1, last_call: 0, pruned_call: 0 }).execute();
}

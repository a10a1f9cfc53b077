import { sql } from 'kysely';
import type { Dialect, Trx } from './dialect.ts';
import { SCHEMA_EDITION } from './tables.ts';

/** The version of the tables below. Builds refuse any higher one in `assay_migrations`. */
export const BASELINE_VERSION = 1;

/** Migration 1, which is never changed: builds that know no other one use these tables (ADR 0111). */
export async function createBaseline(trx: Trx, dialect: Dialect): Promise<void> {
  await createMigrations(trx, dialect);
  await dialect.prepareAnnouncing(trx);
  await createTokens(trx, dialect);
  await createKeys(trx, dialect);
  await createCredentials(trx, dialect);
  await createRecords(trx, dialect);
  await createAudit(trx, dialect);
  await createSessions(trx, dialect);
  await createCalls(trx, dialect);
  await createLabels(trx, dialect);
  await createApprovals(trx, dialect);
  await createCharges(trx, dialect);
  await createMarkers(trx, dialect);
  await createSessionToolsets(trx, dialect);
  await createStoredResults(trx, dialect);
}

async function createMigrations(trx: Trx, { whole }: Dialect): Promise<void> {
  await trx.schema
    .createTable('assay_migrations')
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .addColumn('edition', 'integer', (column) => column.notNull())
    .addColumn('applied_ms', whole, (column) => column.notNull())
    .execute();
  await trx
    .insertInto('assay_migrations')
    .values({ version: BASELINE_VERSION, edition: SCHEMA_EDITION, applied_ms: Date.now() })
    .execute();
}

async function createTokens({ schema }: Trx, { whole }: Dialect): Promise<void> {
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
}

async function createKeys({ schema }: Trx, { bytes, whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('bytes', bytes, (column) => column.notNull())
    .addColumn('created_ms', whole, (column) => column.notNull())
    .execute();
}

async function createCredentials({ schema }: Trx, { bytes, whole }: Dialect): Promise<void> {
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
    .addColumn('pruned_revision', whole, (column) => column.notNull())
    .execute();
  await trx
    .insertInto('assay_record_state')
    .values({ id: 1, last_revision: 0, pruned_revision: 0 })
    .execute();
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
    .addColumn('context', whole, (column) => column.notNull())
    .addColumn('at_ms', whole, (column) => column.notNull())
    .addColumn('tenths', whole, (column) => column.notNull())
    .addColumn('session', 'text')
    .addColumn('details_json', 'text')
    .execute();
  await trx.schema
    .createTable('assay_call_contexts')
    .addColumn('id', whole, (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('subject_json', 'text')
    .addColumn('server_json', 'text')
    .addColumn('tool_json', 'text')
    .addColumn('decision', 'text')
    .addColumn('outcome', 'text')
    .addColumn('context_json', 'text', (column) => column.notNull())
    .execute();
  await trx.schema
    .createIndex('assay_call_contexts_subject')
    .on('assay_call_contexts')
    .column('subject_json')
    .execute();
  await createCallBatches(trx, whole);
  const none = { id: 1, last_call: 0, pruned_call: 0, last_batch: 0 };
  await trx.insertInto('assay_call_state').values(none).execute();
}

/** What groups, finds and counts calls. */
async function createCallBatches(trx: Trx, whole: Dialect['whole']): Promise<void> {
  await trx.schema
    .createTable('assay_call_batches')
    .addColumn('id', whole, (column) => column.primaryKey())
    .addColumn('chain', 'text', (column) => column.notNull())
    .addColumn('number', whole, (column) => column.notNull())
    .addColumn('first_call', whole, (column) => column.notNull().unique())
    .addColumn('count', whole, (column) => column.notNull())
    .addColumn('min_ms', whole, (column) => column.notNull())
    .addColumn('max_ms', whole, (column) => column.notNull())
    .addColumn('previous', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addUniqueConstraint('assay_call_batches_chain', ['chain', 'number'])
    .execute();
  // Finds calls by their context. An index of all calls would cost more than the calls themselves.
  await trx.schema
    .createTable('assay_call_uses')
    .addColumn('context', whole, (column) => column.notNull())
    .addColumn('batch', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('assay_call_uses_key', ['context', 'batch'])
    .execute();
  await trx.schema.createIndex('assay_call_uses_batch').on('assay_call_uses').column('batch').execute();
  await trx.schema
    .createTable('assay_call_minutes')
    .addColumn('minute', whole, (column) => column.notNull())
    .addColumn('decision', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('count', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('assay_call_minutes_key', ['minute', 'decision', 'outcome'])
    .execute();
  await trx.schema
    .createTable('assay_other_calls')
    .addColumn('id', whole, (column) => column.primaryKey())
    .addColumn('at_ms', whole, (column) => column.notNull())
    .addColumn('subject_json', 'text')
    .addColumn('server_json', 'text')
    .addColumn('tool_json', 'text')
    .addColumn('decision', 'text')
    .addColumn('outcome', 'text')
    .execute();
  await trx.schema
    .createTable('assay_call_state')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_call', whole, (column) => column.notNull())
    .addColumn('pruned_call', whole, (column) => column.notNull())
    .addColumn('last_batch', whole, (column) => column.notNull())
    .execute();
}

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

async function createApprovals({ schema }: Trx, { whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_approvals')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('session', 'text', (column) => column.notNull())
    .addColumn('tool_key', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('server_key', 'text', (column) => column.notNull())
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

async function createStoredResults({ schema }: Trx, { bytes, whole }: Dialect): Promise<void> {
  await schema
    .createTable('assay_stored_results')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('subject_json', 'text', (column) => column.notNull())
    .addColumn('token_id', 'text', (column) => column.notNull())
    .addColumn('endpoint_json', 'text', (column) => column.notNull())
    .addColumn('server_json', 'text', (column) => column.notNull())
    .addColumn('tool_json', 'text', (column) => column.notNull())
    .addColumn('public_name', 'text', (column) => column.notNull())
    .addColumn('is_approved', whole, (column) => column.notNull())
    .addColumn('expires_ms', whole, (column) => column.notNull())
    .addColumn('size_bytes', whole, (column) => column.notNull())
    .addColumn('bytes', bytes, (column) => column.notNull())
    .execute();
}

import { isRecordKind, readRecord, type RecordBody } from '../../core/read-record.ts';
import { RECORD_VERSIONS, type RecordKind } from '../../core/record.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type {
  Commit,
  Committed,
  CommittedDrift,
  RecordChange,
  RecordKey,
  RecordNews,
  StoredDrift,
  StoredRecord,
  UnreadableRecord,
} from '../../gateway/ports/records.ts';
import { replaceAccepted } from './accepted-rows.ts';
import { type Charge, selectFitting, removeCharges, writeCharges } from './charge-rows.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import { chargeToolsets } from './toolset-charges.ts';
import type { RecordRow } from './tables.ts';

/** Number of removed records whose rows are kept. */
const KEPT_REMOVED = 1_000;
/** Every so many revisions, more are deleted. */
const PRUNE_INTERVAL = 100;

/** Thrown inside a transaction to roll it back. */
export class WriteConflict extends Error {}

export async function readRecords(trx: Trx, since: number): Promise<RecordNews> {
  const state = await trx.selectFrom('assay_record_state').selectAll().executeTakeFirstOrThrow();
  const { last_revision: revision, pruned_revision: prunedRevision } = state;
  const isWhole = since < prunedRevision;
  const rows = await trx
    .selectFrom('assay_records')
    .selectAll()
    .where('revision', '>', isWhole ? 0 : since)
    .orderBy('revision')
    .execute();
  const records: StoredRecord[] = [];
  const unreadable: UnreadableRecord[] = [];
  for (const row of rows) {
    const cells = new RowCells(row);
    const id = cells.jsonText('id_json');
    const read = readBody(row, cells);
    if (read.ok) records.push({ ...read.value, id, revision: row.revision });
    else unreadable.push({ kind: row.kind, id, revision: cells.count('revision'), reason: read.error });
  }
  return { records, unreadable, revision, prunedRevision, isWhole };
}

interface RemovedBody {
  readonly kind: RecordKind;
  readonly body: undefined;
}

/** A removed record has no body in any version. */
function readBody(
  { kind, version, body_json }: RecordRow,
  cells: RowCells<RecordRow>,
): Result<RecordBody | RemovedBody, string> {
  cells.count('revision');
  const body = cells.optional('body_json', (column) => cells.json(column));
  if (cells.fault !== undefined) return err(cells.fault);
  if (body_json !== null) return readRecord({ kind, version, body });
  return isRecordKind(kind) ? ok({ kind, body: undefined }) : readRecord({ kind, version, body: undefined });
}

/** Makes all changes. Throws a `WriteConflict` if a record does not have its expected revision. */
export async function writeCommit(
  trx: Trx,
  { changes, expectedRevisions, accepted = [], drift }: Omit<Commit, 'audit'>,
): Promise<Committed> {
  const revisions = await readRevisions(trx, expectedRevisions);
  const isCurrent = expectedRevisions.every((one) => revisions.get(keyOf(one)) === one.revision);
  const isOnce = new Set(changes.map(keyOf)).size === changes.length;
  if (!isCurrent || !isOnce) throw new WriteConflict();
  if (drift !== undefined) await chargeDrift(trx, drift);
  const last = await takeRevisions(trx, changes.length);
  const rows = changes.map((change, at) => rowOf(change, last - changes.length + at + 1));
  for (const portion of splitIntoBatches(rows))
    await trx
      .insertInto('assay_records')
      .values(portion)
      .onConflict((conflict) =>
        conflict.columns(['kind', 'id_json']).doUpdateSet((build) => ({
          version: build.ref('excluded.version'),
          revision: build.ref('excluded.revision'),
          body_json: build.ref('excluded.body_json'),
        })),
      )
      .execute();
  const isDue = Math.floor(last / PRUNE_INTERVAL) > Math.floor((last - changes.length) / PRUNE_INTERVAL);
  if (isDue) await pruneRemoved(trx);
  await replaceAccepted(trx, accepted);
  await chargeToolsets(trx, changes);
  const settled = changes.filter(({ kind, body }) => kind === 'tool' && body?.drift === undefined);
  await removeCharges(
    trx,
    'drift',
    settled.map(({ id }) => JSON.stringify(id)),
  );
  return { revision: last };
}

/** A process that has not seen these removals yet reads all records instead. */
async function pruneRemoved(trx: Trx): Promise<void> {
  const newest = await trx
    .selectFrom('assay_records')
    .select('revision')
    .where('body_json', 'is', null)
    .orderBy('revision', 'desc')
    .limit(1)
    .offset(KEPT_REMOVED)
    .executeTakeFirst();
  if (newest === undefined) return;
  await trx
    .deleteFrom('assay_records')
    .where('body_json', 'is', null)
    .where('revision', '<=', newest.revision)
    .execute();
  await trx.updateTable('assay_record_state').set({ pruned_revision: newest.revision }).execute();
}

/** Ids of those tools whose drift fits into the bounds of their server. */
export async function selectFittingDrift(
  trx: Trx,
  { growth, rows }: CommittedDrift,
): Promise<ReadonlySet<string>> {
  const fit = await selectFitting(trx, 'drift', { growth, rows: rows.map(toCharge) });
  return new Set(fit.map(({ id }) => id));
}

/** Throws a `WriteConflict` if another process has used up the room that there was. */
async function chargeDrift(trx: Trx, drift: CommittedDrift): Promise<void> {
  const fit = await selectFittingDrift(trx, drift);
  if (fit.size < drift.rows.length) throw new WriteConflict();
  await writeCharges(trx, 'drift', { ...drift.growth, rows: drift.rows.map(toCharge) });
}

function toCharge({ id, bytes }: StoredDrift): Charge & Pick<StoredDrift, 'id'> {
  return { id, row: JSON.stringify(id), bytes };
}

/** Without settings that cannot be read; `readRecords` has those. */
export async function readSettings(trx: Trx): Promise<ReadonlyMap<string, unknown>> {
  const rows = await trx
    .selectFrom('assay_records')
    .select(['id_json', 'body_json'])
    .where('kind', '=', 'setting')
    .orderBy('id_json')
    .execute();
  return new Map(
    rows.flatMap((row) => {
      if (row.body_json === null) return [];
      const cells = new RowCells(row);
      const setting = [cells.jsonText('id_json'), cells.json('body_json')] as const;
      return cells.fault === undefined ? [setting] : [];
    }),
  );
}

type KeyText = `${string} ${string}`;

function keyOf({ kind, id }: RecordKey): KeyText {
  return `${kind} ${JSON.stringify(id)}`;
}

/** Revisions of those records that exist. */
async function readRevisions(trx: Trx, keys: readonly RecordKey[]): Promise<ReadonlyMap<KeyText, number>> {
  const found = new Map<KeyText, number>();
  for (const [kind, some] of Map.groupBy(keys, (key) => key.kind))
    for (const portion of splitIntoBatches(some.map(({ id }) => JSON.stringify(id)))) {
      const rows = await trx
        .selectFrom('assay_records')
        .select(['id_json', 'revision'])
        .where('kind', '=', kind)
        .where('id_json', 'in', portion)
        .execute();
      for (const { id_json, revision } of rows) found.set(`${kind} ${id_json}`, revision);
    }
  return found;
}

/** Reserves revisions and returns the last one. All come from a single row, so later commits get higher ones. */
async function takeRevisions(trx: Trx, count: number): Promise<number> {
  const row = await trx
    .updateTable('assay_record_state')
    .set((build) => ({ last_revision: build('last_revision', '+', count) }))
    .returning('last_revision')
    .executeTakeFirstOrThrow();
  return row.last_revision;
}

/** JSON escapes U+0000 and lone surrogates, which PostgreSQL rejects. */
function rowOf({ kind, id, body }: RecordChange, revision: number): RecordRow {
  const body_json = body === undefined ? null : JSON.stringify(body);
  return { kind, id_json: JSON.stringify(id), version: RECORD_VERSIONS[kind], revision, body_json };
}

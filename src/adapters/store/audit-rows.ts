import type { AuditEvent } from '../../core/audit-event.ts';
import type { AuditQuery, StoredAuditEvent } from '../../gateway/ports/records.ts';
import { portions, type Trx } from './dialect.ts';
import type { AuditRow } from './tables.ts';

export async function writeAuditEvents(trx: Trx, events: readonly AuditEvent[]): Promise<void> {
  const last = await takeIds(trx, events.length);
  for (const rows of portions(events.map((event, at) => rowOf(event, last - events.length + at + 1))))
    await trx.insertInto('assay_audit').values(rows).execute();
}

/** Newest first, or oldest first if `after` is given. */
export async function readAuditEvents(trx: Trx, query: AuditQuery): Promise<readonly StoredAuditEvent[]> {
  const { before, after, limit, targetKind, targetId } = query;
  let rows = trx
    .selectFrom('assay_audit')
    .selectAll()
    .orderBy('id', after === undefined ? 'desc' : 'asc')
    .limit(limit);
  if (before !== undefined) rows = rows.where('id', '<', before);
  if (after !== undefined) rows = rows.where('id', '>', after);
  if (targetKind !== undefined) rows = rows.where('target_kind', '=', targetKind);
  if (targetId !== undefined) rows = rows.where('target_id_json', '=', JSON.stringify(targetId));
  return (await rows.execute()).map(eventOf);
}

/**
 * Reserves ids and returns the last one. The state row stays locked until the transaction ends, whatever part it
 * writes, so a reader that has seen an event has seen all events with smaller ids.
 */
async function takeIds(trx: Trx, count: number): Promise<number> {
  const row = await trx
    .updateTable('assay_audit_state')
    .set((build) => ({ last_event: build('last_event', '+', count) }))
    .returning('last_event')
    .executeTakeFirstOrThrow();
  return row.last_event;
}

function rowOf({ atMs, subject, action, target, before, after }: AuditEvent, id: number): AuditRow {
  return {
    id,
    at_ms: atMs,
    subject_json: JSON.stringify(subject),
    action,
    target_kind: target.kind,
    target_id_json: JSON.stringify(target.id),
    target_name_json: JSON.stringify(target.name),
    before_json: before === undefined ? null : JSON.stringify(before),
    after_json: after === undefined ? null : JSON.stringify(after),
  };
}

/** Reads what `rowOf` wrote. */
function eventOf(row: AuditRow): StoredAuditEvent {
  return {
    id: row.id,
    atMs: row.at_ms,
    subject: JSON.parse(row.subject_json) as string,
    action: row.action,
    target: {
      kind: row.target_kind,
      id: JSON.parse(row.target_id_json) as string,
      name: JSON.parse(row.target_name_json) as string,
    },
    ...(row.before_json !== null && { before: JSON.parse(row.before_json) as unknown }),
    ...(row.after_json !== null && { after: JSON.parse(row.after_json) as unknown }),
  };
}

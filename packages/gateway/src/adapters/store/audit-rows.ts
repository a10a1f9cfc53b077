import { AUDIT_TARGET_KINDS, type AuditEvent } from '../../core/audit-event.ts';
import type { AuditEntry, AuditQuery, StoredAuditEvent } from '../../gateway/ports/records.ts';
import type { Refusal } from '../../core/refusal.ts';
import {
  readOldestCharges,
  readRecentUsage,
  readUsage,
  removeCharges,
  type Usage,
  writeCharges,
} from './charge-rows.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import type { AuditRow } from './tables.ts';

/** Bounds of the events that one peer causes. Beyond them, its oldest events are removed. */
const PER_PEER: Usage = { entries: 10_000, bytes: 16 * 1024 * 1024 };
/** The same for all peers together. */
const OF_ALL_PEERS: Usage = { entries: 200_000, bytes: 128 * 1024 * 1024 };
/** How many events apart the bounds of all peers are checked, which takes some ms. */
const CHECK_INTERVAL = 100;
/** Maximum per minute of the changes that a client or a model makes. */
const PER_MINUTE: Usage = { entries: 600, bytes: 2 * 1024 * 1024 };
/** Number of events that are removed at once. */
const MAX_REMOVED = 500;

export async function writeAuditEvents(trx: Trx, events: readonly AuditEvent[]): Promise<void> {
  const last = await takeIds(trx, events.length);
  const first = last - events.length + 1;
  const written = events.map((event, at) => ({ event, row: rowOf(event, first + at) }));
  for (const some of splitIntoBatches(written.map(({ row }) => row)))
    await trx.insertInto('assay_audit').values(some).execute();
  const byPeers = written.filter(({ event }) => event.peer !== undefined);
  for (const [peer, some] of Map.groupBy(byPeers, ({ event }) => event.subject)) {
    const rows = some.map(({ row }) => ({ row: String(row.id), bytes: bytesOf(row) }));
    const nowMs = Math.max(...some.map(({ row }) => row.at_ms));
    await writeCharges(trx, 'audit', { peer, nowMs, rows });
    await removeOldest(trx, { peer, bounds: PER_PEER, first });
  }
  const isDue = Math.floor(last / CHECK_INTERVAL) > Math.floor((first - 1) / CHECK_INTERVAL);
  if (isDue) await removeOldest(trx, { peer: undefined, bounds: OF_ALL_PEERS, first });
}

/** CHANGES_LIMIT if a client or a model that causes one of the events has caused too many within a minute. */
export async function findEventRefusal(
  trx: Trx,
  events: readonly AuditEvent[],
): Promise<Refusal | undefined> {
  for (const { subject, atMs, peer } of events) {
    if (peer === undefined || peer === 'server') continue;
    const { entries, bytes } = await readRecentUsage(trx, 'audit', { peer: subject, nowMs: atMs });
    if (entries >= PER_MINUTE.entries || bytes >= PER_MINUTE.bytes)
      return { code: 'CHANGES_LIMIT', limit: PER_MINUTE.entries, waitSeconds: 60 };
  }
  return undefined;
}

interface Removal {
  /** Undefined: all peers. */
  readonly peer: string | undefined;
  readonly bounds: Usage;
  /** Id of the first event that was just written; it and later ones stay. */
  readonly first: number;
}

/** Removes the oldest events of peers beyond the bounds; those of operators stay. */
async function removeOldest(trx: Trx, { peer, bounds, first }: Removal): Promise<void> {
  const usage = await readUsage(trx, 'audit', peer === undefined ? {} : { peer });
  let { entries, bytes } = { entries: usage.entries - bounds.entries, bytes: usage.bytes - bounds.bytes };
  while (entries > 0 || bytes > 0) {
    const removed: string[] = [];
    for (const one of await readOldestCharges(trx, 'audit', { peer, limit: MAX_REMOVED })) {
      if (Number(one.row) >= first || (entries <= 0 && bytes <= 0)) break;
      entries -= 1;
      bytes -= one.bytes;
      removed.push(one.row);
    }
    if (removed.length === 0) return;
    await trx.deleteFrom('assay_audit').where('id', 'in', removed.map(Number)).execute();
    await removeCharges(trx, 'audit', removed);
  }
}

function bytesOf(row: AuditRow): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 8),
    0,
  );
}

/** Newest first, or oldest first if `after` is given. */
export async function readAuditEvents(trx: Trx, query: AuditQuery): Promise<readonly AuditEntry[]> {
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

function eventOf(row: AuditRow): AuditEntry {
  const cells = new RowCells(row);
  const event: StoredAuditEvent = {
    id: row.id,
    atMs: cells.time('at_ms'),
    subject: cells.jsonText('subject_json'),
    action: cells.text('action'),
    target: {
      kind: cells.oneOf('target_kind', AUDIT_TARGET_KINDS, 'tool'),
      id: cells.jsonText('target_id_json'),
      name: cells.jsonText('target_name_json'),
    },
    ...(row.before_json !== null && { before: cells.json('before_json') }),
    ...(row.after_json !== null && { after: cells.json('after_json') }),
  };
  return cells.fault === undefined ? event : { id: row.id, kind: 'unreadable', reason: cells.fault };
}

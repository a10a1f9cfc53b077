import { sql } from 'kysely';
import type { Growth } from '../../gateway/ports/records.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import type { Charged, ChargeRow } from './tables.ts';

/** A row that a peer caused to be stored. */
export interface Charge {
  /** Id of the row in its table, as text. */
  readonly row: string;
  readonly bytes: number;
}

/** The period in ms of rates. */
const MINUTE_MS = 60_000;

/** The rows that fit into the bounds of their peer, in the given order; one that is too large does not stop others. */
export async function selectFitting<T extends Charge>(
  trx: Trx,
  charged: Charged,
  { growth, rows }: { readonly growth: Growth; readonly rows: readonly T[] },
): Promise<readonly T[]> {
  const { bounds, peer, nowMs } = growth;
  const inAll = await readUsage(trx, charged, { peer });
  const recent = await readRecentUsage(trx, charged, growth);
  const former = await readCharges(trx, charged, rows);
  const room = { entries: bounds.entries - inAll.entries, bytes: bounds.bytes - inAll.bytes };
  const roomNow = {
    entries: bounds.entriesPerMinute - recent.entries,
    bytes: bounds.bytesPerMinute - recent.bytes,
  };
  return rows.filter((row) => {
    const before = former.get(row.row);
    const entries = before === undefined ? 1 : 0;
    const entriesNow = isRecent(before, nowMs) ? 0 : 1;
    const bytes = chargedAfter(before, row, nowMs).bytes - (before?.bytes ?? 0);
    // Bounds may have been lowered; what does not grow still fits.
    const isOver = entries > Math.max(room.entries, 0) || bytes > Math.max(room.bytes, 0);
    if (isOver || entriesNow > roomNow.entries || row.bytes > roomNow.bytes) return false;
    room.entries -= entries;
    room.bytes -= bytes;
    roomNow.entries -= entriesNow;
    roomNow.bytes -= row.bytes;
    return true;
  });
}

type Former = Pick<ChargeRow, 'at_ms' | 'bytes'>;

function isRecent(before: Former | undefined, nowMs: number): boolean {
  return before !== undefined && Math.abs(before.at_ms - nowMs) < MINUTE_MS;
}

/** A row that is written again within a minute counts with all that was written. */
function chargedAfter(before: Former | undefined, { bytes }: Charge, nowMs: number): Former {
  return before !== undefined && isRecent(before, nowMs)
    ? { at_ms: before.at_ms, bytes: before.bytes + bytes }
    : { at_ms: nowMs, bytes };
}

/** What rows count as now, by row. */
export async function readCharges(
  trx: Trx,
  charged: Charged,
  rows: readonly Charge[],
): Promise<ReadonlyMap<string, Former>> {
  const found = new Map<string, Former>();
  for (const some of splitIntoBatches(rows.map(({ row }) => row)))
    for (const { row, at_ms, bytes } of await trx
      .selectFrom('assay_charges')
      .select(['row', 'at_ms', 'bytes'])
      .where('charged', '=', charged)
      .where('row', 'in', some)
      .execute())
      found.set(row, { at_ms, bytes });
  return found;
}

export async function writeCharges(
  trx: Trx,
  charged: Charged,
  { peer, nowMs, rows }: Pick<Growth, 'peer' | 'nowMs'> & { readonly rows: readonly Charge[] },
): Promise<void> {
  const peer_json = JSON.stringify(peer);
  const former = await readCharges(trx, charged, rows);
  const written = rows.map((one) => ({
    ...{ charged, row: one.row, peer_json },
    ...chargedAfter(former.get(one.row), one, nowMs),
  }));
  for (const some of splitIntoBatches(written))
    await trx
      .insertInto('assay_charges')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['charged', 'row']).doUpdateSet((build) => ({
          at_ms: build.ref('excluded.at_ms'),
          bytes: build.ref('excluded.bytes'),
        })),
      )
      .execute();
}

/** These rows no longer count against the bounds of a peer. */
export async function removeCharges(trx: Trx, charged: Charged, rows: readonly string[]): Promise<void> {
  for (const some of splitIntoBatches(rows))
    await trx.deleteFrom('assay_charges').where('charged', '=', charged).where('row', 'in', some).execute();
}

/** The oldest rows, of a peer or of all. */
export async function readOldestCharges(
  trx: Trx,
  charged: Charged,
  { peer, limit }: { readonly peer: string | undefined; readonly limit: number },
): Promise<readonly Charge[]> {
  let rows = trx.selectFrom('assay_charges').select(['row', 'bytes']).where('charged', '=', charged);
  if (peer !== undefined) rows = rows.where('peer_json', '=', JSON.stringify(peer));
  return rows.orderBy('at_ms').limit(limit).execute();
}

export interface Usage {
  readonly entries: number;
  readonly bytes: number;
}

/** What was written within a minute. */
export function readRecentUsage(
  trx: Trx,
  charged: Charged,
  { peer, nowMs }: Pick<Growth, 'peer' | 'nowMs'>,
): Promise<Usage> {
  // A clock that was set back must not count rows as recent for long.
  return readUsage(trx, charged, { peer, fromMs: nowMs - MINUTE_MS, toMs: nowMs + MINUTE_MS });
}

/** Both databases may return sums as text. Without a peer: of all peers. */
export async function readUsage(
  trx: Trx,
  charged: Charged,
  { peer, fromMs, toMs }: { readonly peer?: string; readonly fromMs?: number; readonly toMs?: number },
): Promise<Usage> {
  let rows = trx
    .selectFrom('assay_charges')
    .select([
      (build) => build.fn.countAll<number | string>().as('entries'),
      sql<number | string | null>`sum(bytes)`.as('bytes'),
    ])
    .where('charged', '=', charged);
  if (peer !== undefined) rows = rows.where('peer_json', '=', JSON.stringify(peer));
  if (fromMs !== undefined) rows = rows.where('at_ms', '>', fromMs);
  if (toMs !== undefined) rows = rows.where('at_ms', '<', toMs);
  const { entries, bytes } = await rows.executeTakeFirstOrThrow();
  return { entries: Number(entries), bytes: Number(bytes ?? 0) };
}

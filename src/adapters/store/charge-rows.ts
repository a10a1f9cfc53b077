import { sql } from 'kysely';
import type { Growth } from '../../gateway/ports/records.ts';
import { portions, type Trx } from './dialect.ts';
import type { Charged } from './tables.ts';

/** A row that a peer caused to be stored. */
export interface Charge {
  /** Id of the row in its table, as text. */
  readonly row: string;
  readonly bytes: number;
}

/** The period in ms of rates. */
const MINUTE_MS = 60_000;

/** The rows that fit into the bounds of their peer, in the given order; one that is too large does not stop others. */
export async function fitting<T extends Charge>(
  trx: Trx,
  charged: Charged,
  { growth, rows }: { readonly growth: Growth; readonly rows: readonly T[] },
): Promise<readonly T[]> {
  const { bounds, peer, nowMs } = growth;
  const inAll = await readUsage(trx, charged, { peer });
  // A clock that was set back must not count rows as recent for long.
  const recent = await readUsage(trx, charged, { peer, fromMs: nowMs - MINUTE_MS, toMs: nowMs + MINUTE_MS });
  let entries = Math.min(bounds.entries - inAll.entries, bounds.entriesPerMinute - recent.entries);
  let bytes = Math.min(bounds.bytes - inAll.bytes, bounds.bytesPerMinute - recent.bytes);
  return rows.filter((row) => {
    if (entries < 1 || row.bytes > bytes) return false;
    entries -= 1;
    bytes -= row.bytes;
    return true;
  });
}

export async function writeCharges(
  trx: Trx,
  charged: Charged,
  { peer, nowMs, rows }: Pick<Growth, 'peer' | 'nowMs'> & { readonly rows: readonly Charge[] },
): Promise<void> {
  const peer_json = JSON.stringify(peer);
  for (const some of portions(rows))
    await trx
      .insertInto('assay_charges')
      .values(some.map(({ row, bytes }) => ({ charged, row, peer_json, at_ms: nowMs, bytes })))
      .onConflict((conflict) => conflict.columns(['charged', 'row']).doNothing())
      .execute();
}

/** These rows no longer count against the bounds of a peer. */
export async function removeCharges(trx: Trx, charged: Charged, rows: readonly string[]): Promise<void> {
  for (const some of portions(rows))
    await trx.deleteFrom('assay_charges').where('charged', '=', charged).where('row', 'in', some).execute();
}

interface Usage {
  readonly entries: number;
  readonly bytes: number;
}

/** Both databases may return sums as text. */
async function readUsage(
  trx: Trx,
  charged: Charged,
  { peer, fromMs, toMs }: { readonly peer: string; readonly fromMs?: number; readonly toMs?: number },
): Promise<Usage> {
  let rows = trx
    .selectFrom('assay_charges')
    .select([
      (build) => build.fn.countAll<number | string>().as('entries'),
      sql<number | string | null>`sum(bytes)`.as('bytes'),
    ])
    .where('charged', '=', charged)
    .where('peer_json', '=', JSON.stringify(peer));
  if (fromMs !== undefined) rows = rows.where('at_ms', '>', fromMs);
  if (toMs !== undefined) rows = rows.where('at_ms', '<', toMs);
  const { entries, bytes } = await rows.executeTakeFirstOrThrow();
  return { entries: Number(entries), bytes: Number(bytes ?? 0) };
}

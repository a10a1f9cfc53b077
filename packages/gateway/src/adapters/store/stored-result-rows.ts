import { ok, type Result } from '@assay-mcp/kit/result';
import type {
  StoredResult,
  StoredResultBounds,
  StoredResultKey,
} from '../../gateway/ports/stored-results.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import type { StoredResultRow } from './tables.ts';

export async function writeStoredResult(
  trx: Trx,
  result: StoredResult,
  bounds: StoredResultBounds,
  nowMs: number,
): Promise<boolean> {
  await deleteExpiredResults(trx, nowMs);
  if (!(await evictOldestResults(trx, result, bounds))) return false;
  await trx.insertInto('assay_stored_results').values(toRow(result)).execute();
  return true;
}

export async function readStoredResult(
  trx: Trx,
  { hash, subject, tokenId, endpoint }: StoredResultKey,
  nowMs: number,
): Promise<StoredResult | undefined> {
  const row = await trx
    .selectFrom('assay_stored_results')
    .selectAll()
    .where('hash', '=', hash)
    .where('subject_json', '=', JSON.stringify(subject))
    .where('token_id', '=', tokenId)
    .where('endpoint_json', '=', JSON.stringify(endpoint))
    .where('expires_ms', '>', nowMs)
    .executeTakeFirst();
  return row && toStoredResult(row);
}

export async function deleteExpiredResults(trx: Trx, nowMs: number): Promise<Result<undefined, never>> {
  await trx.deleteFrom('assay_stored_results').where('expires_ms', '<=', nowMs).execute();
  return ok(undefined);
}

export async function deleteResultsOfToken(trx: Trx, tokenId: string): Promise<void> {
  await trx.deleteFrom('assay_stored_results').where('token_id', '=', tokenId).execute();
}

interface Sized {
  readonly hash: string;
  readonly subject_json: string;
  readonly size_bytes: number;
}

/**
 * Removes the oldest results of the subject beyond its bound, then those of whichever subject has the most. Returns false
 * if that is the subject itself, and it has nothing to give up.
 */
async function evictOldestResults(
  trx: Trx,
  { subject, bytes }: StoredResult,
  { bytesPerSubject, totalBytes }: StoredResultBounds,
): Promise<boolean> {
  const rows: readonly Sized[] = await trx
    .selectFrom('assay_stored_results')
    .select(['hash', 'subject_json', 'size_bytes'])
    .orderBy('expires_ms')
    .orderBy('hash')
    .execute();
  const own = JSON.stringify(subject);
  const left = new Map([[own, [] as Sized[]], ...Map.groupBy(rows, (row) => row.subject_json)]);
  const used = new Map([...left].map(([key, some]) => [key, sumBytes(some)]));
  used.set(own, (used.get(own) ?? 0) + bytes.length);
  const excess: string[] = [];
  let total = sumBytes(rows) + bytes.length;
  while (total > totalBytes || (used.get(own) ?? 0) > bytesPerSubject) {
    const from = (used.get(own) ?? 0) > bytesPerSubject ? own : findLargest(used, own);
    const oldest = left.get(from)?.shift();
    if (oldest === undefined) return false;
    excess.push(oldest.hash);
    total -= oldest.size_bytes;
    used.set(from, (used.get(from) ?? 0) - oldest.size_bytes);
  }
  for (const portion of splitIntoBatches(excess))
    await trx.deleteFrom('assay_stored_results').where('hash', 'in', portion).execute();
  return true;
}

/** No subject gives anything up for one that has as much. */
function findLargest(used: ReadonlyMap<string, number>, own: string): string {
  let largest = own;
  for (const [key, bytes] of used) if (bytes > (used.get(largest) ?? 0)) largest = key;
  return largest;
}

function sumBytes(rows: readonly Sized[]): number {
  return rows.reduce((sum, row) => sum + row.size_bytes, 0);
}

function toRow(result: StoredResult): StoredResultRow {
  return {
    hash: result.hash,
    subject_json: JSON.stringify(result.subject),
    token_id: result.tokenId,
    endpoint_json: JSON.stringify(result.endpoint),
    server_json: JSON.stringify(result.server),
    tool_json: JSON.stringify(result.tool),
    public_name: result.publicName,
    is_approved: result.isApproved ? 1 : 0,
    expires_ms: result.expiresMs,
    size_bytes: result.bytes.length,
    bytes: result.bytes,
  };
}

/** Undefined if the row cannot be read: then it belongs to nobody. */
function toStoredResult(row: StoredResultRow): StoredResult | undefined {
  const cells = new RowCells(row);
  const result: StoredResult = {
    hash: cells.text('hash'),
    subject: cells.jsonText('subject_json'),
    tokenId: cells.text('token_id'),
    endpoint: cells.jsonText('endpoint_json'),
    server: cells.jsonText('server_json'),
    tool: cells.jsonText('tool_json'),
    publicName: cells.text('public_name'),
    isApproved: cells.count('is_approved') === 1,
    expiresMs: cells.time('expires_ms'),
    bytes: cells.bytes('bytes'),
  };
  return cells.fault === undefined ? result : undefined;
}

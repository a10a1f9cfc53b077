import { ok, type Result } from '@assay-mcp/kit/result';
import type { StoredKey } from '../../gateway/ports/store.ts';
import type { Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import type { KeyRow } from './tables.ts';

/** Newest first, without those that cannot be read. */
export async function readKeys(trx: Trx, purpose: string): Promise<readonly StoredKey[]> {
  const rows = await trx
    .selectFrom('assay_keys')
    .selectAll()
    .where('purpose', '=', purpose)
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.flatMap((row) => {
    const cells = new RowCells(row);
    const key = {
      ...{ id: cells.text('id'), purpose, bytes: cells.bytes('bytes') },
      createdMs: cells.time('created_ms'),
    };
    return cells.fault === undefined ? [key] : [];
  });
}

export async function writeKey(
  trx: Trx,
  { id, purpose, bytes, createdMs }: StoredKey,
): Promise<Result<undefined, never>> {
  // Bytes from another thread arrive as a Uint8Array, which SQLite does not accept.
  const row: KeyRow = { id, purpose, bytes: Buffer.from(bytes), created_ms: createdMs };
  await trx.insertInto('assay_keys').values(row).execute();
  return ok(undefined);
}

import { TOOLSET_LIMITS, pickModelPart } from '../../core/toolset.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Commit, RecordChange } from '../../gateway/ports/records.ts';
import { type Charge, readCharges, readUsage, removeCharges, writeCharges } from './charge-rows.ts';
import type { Trx } from './dialect.ts';

/** All models together: they share the toolsets of an instance. */
const PEER = 'models';

/** TOOLSETS_TOO_LARGE if a model makes toolsets larger, and those of all models would exceed their bound. */
export async function findToolsetRefusal(
  trx: Trx,
  { changes, audit }: Pick<Commit, 'changes' | 'audit'>,
): Promise<Refusal | undefined> {
  if (!audit.some(({ peer }) => peer === 'model')) return undefined;
  const charges = changes.flatMap(toCharge);
  const former = await readCharges(trx, 'toolset', charges);
  const growth = charges.reduce((sum, { row, bytes }) => sum + bytes - (former.get(row)?.bytes ?? 0), 0);
  if (growth <= 0) return undefined;
  const { bytes } = await readUsage(trx, 'toolset', { peer: PEER });
  const limitBytes = TOOLSET_LIMITS.bytesByModels;
  return bytes + growth > limitBytes ? { code: 'TOOLSETS_TOO_LARGE', limitBytes } : undefined;
}

/** Counts what models have written of the changed toolsets, whoever changes them. */
export async function chargeToolsets(trx: Trx, changes: readonly RecordChange[]): Promise<void> {
  const charges = changes.flatMap(toCharge);
  await removeCharges(
    trx,
    'toolset',
    charges.map(({ row }) => row),
  );
  const rows = charges.filter(({ bytes }) => bytes > 0);
  // Only what is stored counts, not when it was written.
  await writeCharges(trx, 'toolset', { peer: PEER, nowMs: 0, rows });
}

function toCharge({ kind, id, body }: RecordChange): readonly Charge[] {
  if (kind !== 'toolset') return [];
  const part = body && pickModelPart(body);
  return [
    { row: JSON.stringify(id), bytes: part === undefined ? 0 : Buffer.byteLength(JSON.stringify(part)) },
  ];
}

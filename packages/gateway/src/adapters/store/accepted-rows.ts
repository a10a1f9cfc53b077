import type { AcceptedDefinition, Growth } from '../../gateway/ports/records.ts';
import { type Charge, selectFitting, removeCharges, writeCharges } from './charge-rows.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import type { AcceptedRow } from './tables.ts';

export async function readAccepted(trx: Trx, id: string): Promise<AcceptedDefinition | undefined> {
  const row = await trx
    .selectFrom('assay_accepted')
    .selectAll()
    .where('id_json', '=', JSON.stringify(id))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const cells = new RowCells(row);
  // An empty text cannot be compared, so the tool counts as changed in a dangerous way until it is reviewed.
  return { id, digest: cells.text('digest'), text: cells.jsonText('text_json') };
}

/** The digests of these tools' accepted definitions, by tool id. The texts are long and are not read. */
export async function readAcceptedDigests(
  trx: Trx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const portion of splitIntoBatches(ids.map((id) => JSON.stringify(id)))) {
    const rows = await trx
      .selectFrom('assay_accepted')
      .select(['id_json', 'digest'])
      .where('id_json', 'in', portion)
      .execute();
    for (const { id_json, digest } of rows) digests.set(JSON.parse(id_json) as string, digest); // as above
  }
  return digests;
}

/** Those of the definitions that fit into the bounds of their server. */
export async function selectFittingAccepted(
  trx: Trx,
  definitions: readonly AcceptedDefinition[],
  growth: Growth | undefined,
): Promise<readonly AcceptedDefinition[]> {
  if (growth === undefined) return definitions;
  const rows = await selectFitting(trx, 'accepted', { growth, rows: definitions.map(toCharge) });
  return rows.map(({ definition }) => definition);
}

/** Keeps definitions that are already accepted. */
export async function writeFirstAccepted(
  trx: Trx,
  definitions: readonly AcceptedDefinition[],
  growth: Growth | undefined,
): Promise<void> {
  // Of two definitions of a tool, the first is accepted.
  const first = [...new Map(definitions.toReversed().map((one) => [one.id, one])).values()].toReversed();
  const known = await readAcceptedDigests(
    trx,
    first.map(({ id }) => id),
  );
  const absent = first.filter(({ id }) => !known.has(id));
  const added = await selectFittingAccepted(trx, absent, growth);
  for (const rows of splitIntoBatches(added.map(rowOf)))
    await trx
      .insertInto('assay_accepted')
      .values(rows)
      .onConflict((conflict) => conflict.column('id_json').doNothing())
      .execute();
  if (growth !== undefined) await writeCharges(trx, 'accepted', { ...growth, rows: added.map(toCharge) });
}

function toCharge(definition: AcceptedDefinition): Charge & { readonly definition: AcceptedDefinition } {
  const { id_json: row, text_json } = rowOf(definition);
  return { row, bytes: Buffer.byteLength(text_json), definition };
}

/** Replaces definitions by those that an operator has reviewed. They no longer count against a server's bounds. */
export async function replaceAccepted(trx: Trx, definitions: readonly AcceptedDefinition[]): Promise<void> {
  // PostgreSQL cannot replace a row twice in one statement, so only the last definition of each tool is written.
  const last = [...new Map(definitions.map((one) => [one.id, one])).values()];
  for (const rows of splitIntoBatches(last.map(rowOf)))
    await trx
      .insertInto('assay_accepted')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('id_json').doUpdateSet((build) => ({
          digest: build.ref('excluded.digest'),
          text_json: build.ref('excluded.text_json'),
        })),
      )
      .execute();
  await removeCharges(
    trx,
    'accepted',
    last.map(({ id }) => JSON.stringify(id)),
  );
}

function rowOf({ id, digest, text }: AcceptedDefinition): AcceptedRow {
  return { id_json: JSON.stringify(id), digest, text_json: JSON.stringify(text) };
}

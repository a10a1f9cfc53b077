import type { Toolset } from '../../core/toolset.ts';
import type { StoredToolset, ToolsetNews } from '../../gateway/ports/toolsets.ts';
import { portions, type Trx } from './dialect.ts';
import type { ToolsetRow } from './tables.ts';

/** The bodies of toolsets that are known are not read: they are long, and it is asked after each change. */
export async function readToolsets(trx: Trx, known: ReadonlyMap<string, number>): Promise<ToolsetNews> {
  const rows = await trx.selectFrom('assay_toolsets').select(['name', 'revision']).execute();
  const state = await trx
    .selectFrom('assay_toolset_state')
    .select(['equipped', 'equippings'])
    .executeTakeFirstOrThrow();
  const changed = rows.filter(({ name, revision }) => known.get(name) !== revision);
  return {
    // Not sorted by the database: PostgreSQL would pass over hyphens where its locale does.
    names: rows.map(({ name }) => name).sort(),
    changed: await readBodies(trx, changed.map(({ name }) => name).sort()),
    equipped: state.equipped ?? undefined,
    equippings: state.equippings,
  };
}

/** `replaces`: the name of the one whose place it takes. Undefined where that is absent, or another one has its name. */
export async function writeToolset(
  trx: Trx,
  toolset: Toolset,
  replaces: string | undefined,
): Promise<StoredToolset | undefined> {
  const { name } = toolset;
  if (replaces !== undefined && (await revisionOf(trx, replaces)) === undefined) return undefined;
  if (name !== replaces && (await revisionOf(trx, name)) !== undefined) return undefined;
  const row = rowOf(toolset, await nextRevision(trx));
  if (replaces === undefined) await trx.insertInto('assay_toolsets').values(row).execute();
  else await replace(trx, replaces, row);
  return { toolset, revision: row.revision };
}

export async function readToolsetRevisions(trx: Trx): Promise<ReadonlyMap<string, number>> {
  const rows = await trx.selectFrom('assay_toolsets').select(['name', 'revision']).execute();
  return new Map(rows.map(({ name, revision }) => [name, revision]));
}

export async function readEquippings(trx: Trx): Promise<number> {
  const state = await trx.selectFrom('assay_toolset_state').select('equippings').executeTakeFirstOrThrow();
  return state.equippings;
}

/** Whether there was one. */
export async function deleteToolset(trx: Trx, name: string): Promise<boolean> {
  if ((await revisionOf(trx, name)) === undefined) return false;
  await trx.deleteFrom('assay_toolsets').where('name', '=', name).execute();
  const state = await trx.selectFrom('assay_toolset_state').select('equipped').executeTakeFirstOrThrow();
  if (state.equipped === name) await setEquipped(trx, undefined);
  return true;
}

/** Whether there is one, where one is to be equipped. */
export async function markEquipped(trx: Trx, name: string | undefined): Promise<boolean> {
  if (name !== undefined && (await revisionOf(trx, name)) === undefined) return false;
  await setEquipped(trx, name);
  return true;
}

async function readBodies(trx: Trx, names: readonly string[]): Promise<readonly StoredToolset[]> {
  const bodies = new Map<string, StoredToolset>();
  for (const portion of portions(names)) {
    const rows = await trx.selectFrom('assay_toolsets').selectAll().where('name', 'in', portion).execute();
    for (const row of rows) bodies.set(row.name, storedOf(row));
  }
  return names.flatMap((name) => bodies.get(name) ?? []);
}

async function revisionOf(trx: Trx, name: string): Promise<number | undefined> {
  // No toolset is called so, and PostgreSQL would not even look for it.
  if (name.includes('\u0000')) return undefined;
  const row = await trx
    .selectFrom('assay_toolsets')
    .select('revision')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.revision;
}

/** One that was taken away and comes back under its name must not pass for the one that somebody knows. */
async function nextRevision(trx: Trx): Promise<number> {
  const row = await trx
    .updateTable('assay_toolset_state')
    .set((build) => ({ last_revision: build('last_revision', '+', 1) }))
    .returning('last_revision')
    .executeTakeFirstOrThrow();
  return row.last_revision;
}

/** A new name is no equipping: what was equipped is it still. */
async function replace(trx: Trx, name: string, row: ToolsetRow): Promise<void> {
  await trx.updateTable('assay_toolsets').set(row).where('name', '=', name).execute();
  await trx
    .updateTable('assay_toolset_state')
    .set({ equipped: row.name })
    .where('equipped', '=', name)
    .execute();
}

async function setEquipped(trx: Trx, name: string | undefined): Promise<void> {
  await trx
    .updateTable('assay_toolset_state')
    .set((build) => ({ equipped: name ?? null, equippings: build('equippings', '+', 1) }))
    .execute();
}

/** JSON has U+0000 and halves of pairs escaped, which PostgreSQL does not take as they are. */
function rowOf(toolset: Toolset, revision: number): ToolsetRow {
  return { name: toolset.name, revision, body_json: JSON.stringify(toolset) };
}

function storedOf({ body_json, revision }: ToolsetRow): StoredToolset {
  return { toolset: JSON.parse(body_json) as Toolset, revision }; // `rowOf` wrote it
}

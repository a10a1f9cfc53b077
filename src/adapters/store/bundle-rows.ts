import type { ChangesTogether, Snapshot } from '../../gateway/ports/bundles.ts';
import type { Trx } from './dialect.ts';
import { readSettings, writeSetting } from './setting-rows.ts';
import { markEquipped, readToolsets, writeToolset } from './toolset-rows.ts';
import { readWords, writeWords } from './word-rows.ts';

export async function readSnapshot(trx: Trx): Promise<Snapshot> {
  return {
    words: await readWords(trx, 0),
    toolsets: await readToolsets(trx, new Map()),
    settings: await readSettings(trx),
  };
}

/** Whether all of it was done. What somebody else has changed is found before anything is written. */
export async function writeTogether(trx: Trx, changes: ChangesTogether): Promise<boolean> {
  const { words, toolsets, equip, settings } = changes;
  if (!(await isAsKnown(trx, changes))) return false;
  if (words.length > 0 && (await writeWords(trx, words)) === undefined) return false;
  for (const { toolset, former } of toolsets) {
    const { name } = toolset;
    const written = await writeToolset(
      trx,
      toolset,
      former === undefined ? undefined : { name, revision: former },
    );
    // What was written before it must not stay.
    if (!written.ok || written.value === undefined)
      throw new Error(`The toolset ${name} changed while no other writer was let in.`);
  }
  if (equip !== undefined) await markEquipped(trx, equip.name);
  for (const { key, value } of settings) await writeSetting(trx, key, value);
  return true;
}

async function isAsKnown(
  trx: Trx,
  { toolsets, equip, settings }: Omit<ChangesTogether, 'words'>,
): Promise<boolean> {
  const stored = await readSettings(trx);
  const areSettings = settings.every(
    ({ key, former }) => JSON.stringify(stored.get(key)) === JSON.stringify(former),
  );
  if (!areSettings) return false;
  const rows = await trx.selectFrom('assay_toolsets').select(['name', 'revision']).execute();
  const revisions = new Map(rows.map(({ name, revision }) => [name, revision]));
  const names = toolsets.map(({ toolset }) => toolset.name);
  const areToolsets =
    new Set(names).size === names.length &&
    toolsets.every(({ toolset, former }) => revisions.get(toolset.name) === former);
  if (!areToolsets || equip === undefined) return areToolsets;
  const { equippings } = await trx
    .selectFrom('assay_toolset_state')
    .select('equippings')
    .executeTakeFirstOrThrow();
  return equippings === equip.equippings && (revisions.has(equip.name) || names.includes(equip.name));
}

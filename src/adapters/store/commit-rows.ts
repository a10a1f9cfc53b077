import type { Change, Commit, Committed, ExpectedRevision } from '../../gateway/ports/commit.ts';
import type { StorePart } from '../../gateway/ports/store.ts';
import type { StoredToolset } from '../../gateway/ports/toolsets.ts';
import type { Trx } from './dialect.ts';
import { readSettings, writeSetting } from './setting-rows.ts';
import {
  deleteToolset,
  markEquipped,
  readEquippings,
  readToolsetRevisions,
  writeToolset,
} from './toolset-rows.ts';
import { readWordRevisions, wordKeyOf, writeWords } from './word-rows.ts';

/** Thrown inside a transaction, so that it is rolled back. */
export class WriteConflict extends Error {}

/** The parts of the store that a commit reads or writes, and which no other writer may write meanwhile. */
export function partsOf({ changes, expectedRevisions }: Omit<Commit, 'audit'>): readonly StorePart[] {
  return [...new Set([...changes, ...expectedRevisions].map(({ kind }) => PARTS[kind]))];
}

const PARTS: Readonly<Record<Change['kind'] | ExpectedRevision['kind'], StorePart>> = {
  word: 'words',
  toolset: 'toolsets',
  'toolset removal': 'toolsets',
  equipped: 'toolsets',
  setting: 'settings',
};

/** Makes all changes; throws a `WriteConflict` where one of them cannot be made. */
export async function writeCommit(
  trx: Trx,
  { changes, expectedRevisions }: Omit<Commit, 'audit'>,
): Promise<Committed> {
  if (!(await areCurrent(trx, expectedRevisions))) throw new WriteConflict();
  const words = changes.filter((change) => change.kind === 'word');
  if (new Set(words.map(({ word }) => wordKeyOf(word))).size < words.length) throw new WriteConflict();
  const stored = words.length === 0 ? [] : await writeWords(trx, words);
  const toolsets: StoredToolset[] = [];
  for (const change of changes) {
    const isDone = await write(trx, change, toolsets);
    if (!isDone) throw new WriteConflict();
  }
  return { words: stored, toolsets };
}

async function write(trx: Trx, change: Change, toolsets: StoredToolset[]): Promise<boolean> {
  switch (change.kind) {
    case 'word':
      return true; // written with all others, in few statements
    case 'toolset': {
      const stored = await writeToolset(trx, change.toolset, change.replaces);
      if (stored !== undefined) toolsets.push(stored);
      return stored !== undefined;
    }
    case 'toolset removal':
      return deleteToolset(trx, change.name);
    case 'equipped':
      return markEquipped(trx, change.name);
    case 'setting':
      await writeSetting(trx, change.key, change.value);
      return true;
  }
}

async function areCurrent(trx: Trx, expected: readonly ExpectedRevision[]): Promise<boolean> {
  return (
    (await areWordsCurrent(trx, expected)) &&
    (await areToolsetsCurrent(trx, expected)) &&
    (await areSettingsCurrent(trx, expected))
  );
}

async function areWordsCurrent(trx: Trx, expected: readonly ExpectedRevision[]): Promise<boolean> {
  const words = expected.filter((one) => one.kind === 'word');
  if (words.length === 0) return true;
  const revisions = await readWordRevisions(
    trx,
    words.map(({ word }) => word),
  );
  return words.every(({ word, revision }) => revisions.get(wordKeyOf(word)) === revision);
}

async function areToolsetsCurrent(trx: Trx, expected: readonly ExpectedRevision[]): Promise<boolean> {
  const toolsets = expected.filter((one) => one.kind === 'toolset');
  const equipped = expected.find((one) => one.kind === 'equipped');
  if (equipped !== undefined && (await readEquippings(trx)) !== equipped.equippings) return false;
  if (toolsets.length === 0) return true;
  const revisions = await readToolsetRevisions(trx);
  return toolsets.every(({ name, revision }) => revisions.get(name) === revision);
}

async function areSettingsCurrent(trx: Trx, expected: readonly ExpectedRevision[]): Promise<boolean> {
  const settings = expected.filter((one) => one.kind === 'setting');
  if (settings.length === 0) return true;
  const stored = await readSettings(trx);
  return settings.every(({ key, value }) => JSON.stringify(stored.get(key)) === JSON.stringify(value));
}

import { join } from 'node:path';
import { shortHash } from '../../core/digest.ts';
import type { Equipped, EquippedMemory } from '../../gateway/ports/toolsets.ts';
import { ensureFolder, readText, writeAtomically } from '../../platform/files.ts';
import { isStoreThere } from './is-store-there.ts';

/** Changes with what is below: a file of another format is passed over. */
const FORMAT = 1;
const STORE_DIGITS = 16;

/**
 * What is equipped, in a file, so that a first list need not wait for the store. It is a copy that any process on the
 * store writes, and that counts until the store was read. Nothing is equipped where there is no store yet.
 */
export async function openEquippedFile(
  home: string,
  databaseUrl: string | undefined,
): Promise<EquippedMemory> {
  const path = join(home, 'equipped.json');
  const store = shortHash(databaseUrl ?? '', STORE_DIGITS);
  const isNew = !(await isStoreThere(home, databaseUrl));
  const file = await readText(path);
  let written = file.ok ? file.value : '';
  let writing: Promise<unknown> = Promise.resolve();
  return {
    recalled: isNew ? { toolset: undefined, equippings: 0 } : read(written, store),
    remember: ({ toolset, equippings }) => {
      const kept: Kept = { format: FORMAT, store, equippings, toolset: toolset ?? null };
      const text = `${JSON.stringify(kept)}\n`;
      if (text === written) return;
      written = text;
      writing = writing.then(async () => {
        await ensureFolder(home);
        // A home that cannot be written costs the next start some time, and nothing else.
        await writeAtomically(path, text, 0o600);
      });
    },
    flush: async () => {
      await writing;
    },
  };
}

function read(text: string, store: string): Equipped | undefined {
  try {
    const kept = JSON.parse(text) as Partial<Kept>;
    const { equippings, toolset } = kept;
    if (kept.format !== FORMAT || kept.store !== store || typeof equippings !== 'number') return undefined;
    return { equippings, toolset: toolset ?? undefined };
  } catch {
    return undefined;
  }
}

interface Kept {
  readonly format: number;
  /** Which store it is a copy of. */
  readonly store: string;
  readonly equippings: number;
  readonly toolset: Equipped['toolset'] | null;
}

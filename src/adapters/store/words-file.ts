import { join } from 'node:path';
import { shortHash } from '../../core/digest.ts';
import type { Word, WordsMemory } from '../../gateway/ports/words.ts';
import { ensureFolder, readText, writeAtomically } from '../../platform/files.ts';
import { isStoreThere } from './is-store-there.ts';

/** Changes with what is below: a file of another format is passed over. */
const FORMAT = 1;
const STORE_DIGITS = 16;
/** Changes within this many ms are written once. */
const WRITE_AFTER_MS = 250;

interface Kept {
  readonly format: number;
  /** Which store it is a copy of. */
  readonly store: string;
  readonly words: readonly Word[];
}

/**
 * What operators say of tools and servers, in a file, so that a first list need not wait for the store. It is a copy that
 * any process on the store writes, and that counts until the store was read. Nothing is said where there is no store yet.
 */
export async function openWordsFile(home: string, databaseUrl: string | undefined): Promise<WordsMemory> {
  const path = join(home, 'words.json');
  const store = shortHash(databaseUrl ?? '', STORE_DIGITS);
  const isNew = !(await isStoreThere(home, databaseUrl));
  const file = await readText(path);
  let written = file.ok ? file.value : '';
  let wanted = written;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (wanted === written) return;
    written = wanted;
    writing = writing.then(async () => {
      await ensureFolder(home);
      // A home that cannot be written costs the next start some time, and nothing else.
      await writeAtomically(path, written, 0o600);
    });
  };
  return {
    recalled: isNew ? [] : read(written, store),
    remember: (words) => {
      const kept = words
        .filter(({ kind, body }) => kind !== 'gateway' && body !== undefined)
        .map(({ kind, id, body }) => ({ kind, id, body }));
      if (kept.length === 0 && written === '') return;
      wanted = `${JSON.stringify({ format: FORMAT, store, words: kept } satisfies Kept)}\n`;
      timer ??= setTimeout(write, WRITE_AFTER_MS).unref();
    },
    flush: async () => {
      write();
      await writing;
    },
  };
}

function read(text: string, store: string): readonly Word[] {
  try {
    const kept = JSON.parse(text) as Partial<Kept>;
    const isOurs = kept.format === FORMAT && kept.store === store && Array.isArray(kept.words);
    return isOurs ? (kept.words as readonly Word[]) : []; // `remember` wrote it
  } catch {
    return [];
  }
}

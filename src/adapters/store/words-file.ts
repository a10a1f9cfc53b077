import { join } from 'node:path';
import { shortHash } from '../../core/digest.ts';
import type { StoredWord, Word, WordsMemory } from '../../gateway/ports/words.ts';
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
  let wanted: readonly StoredWord[] | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = wanted === undefined ? written : textOf(store, wanted);
    if (text === written) return;
    written = text;
    writing = writing.then(async () => {
      await ensureFolder(home);
      // A home that cannot be written costs the next start some time, and nothing else.
      await writeAtomically(path, written, 0o600);
    });
  };
  return {
    recalled: isNew ? [] : read(written, store),
    remember: (words) => {
      if (written === '' && words.every(({ body }) => body === undefined)) return;
      wanted = words;
      timer ??= setTimeout(write, WRITE_AFTER_MS).unref();
    },
    flush: async () => {
      write();
      await writing;
    },
  };
}

function textOf(store: string, words: readonly StoredWord[]): string {
  const said = words.filter(({ body }) => body !== undefined);
  const kept: Kept = { format: FORMAT, store, words: said.map(({ kind, id, body }) => ({ kind, id, body })) };
  return `${JSON.stringify(kept)}\n`;
}

function read(text: string, store: string): readonly Word[] {
  try {
    const kept = JSON.parse(text) as Partial<Kept>;
    const isOurs = kept.format === FORMAT && kept.store === store && Array.isArray(kept.words);
    return isOurs ? (kept.words as readonly unknown[]).filter(isWord) : [];
  } catch {
    return [];
  }
}

/** What it says is what was written; a file that somebody damaged costs no start. */
function isWord(value: unknown): value is Word {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, id, body } = value as Partial<Word>;
  return typeof kind === 'string' && typeof id === 'string' && typeof body === 'object' && body !== null;
}

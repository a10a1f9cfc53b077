import { join } from 'node:path';
import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { readTextWithin } from '@assay-mcp/kit/platform/bounded-file';
import { ensureFolder, writeUnlessChanged } from '@assay-mcp/kit/platform/files';

/** The file in Assay's home. */
export const TOLD_FILE = 'codebase-roots.json';
const MAX_BYTES = 1_048_576;
const MAX_ROOTS = 1_000;
const ATTEMPTS = 20;

/**
 * The folders that `assay codebase index` was told at a terminal, in a file that no tool writes. It is not in the folder
 * of the indexes, which a confined server may write to.
 */
export class ToldRoots {
  readonly #home: string;
  readonly #path: string;

  /** `home`: the absolute folder of Assay's data. */
  constructor(home: string) {
    this.#home = home;
    this.#path = join(home, TOLD_FILE);
  }

  /** Real paths. None if the file is missing or invalid. */
  async read(): Promise<readonly string[]> {
    const text = await readTextWithin(this.#path, MAX_BYTES);
    return text.ok ? rootsIn(text.value) : [];
  }

  /** Returns why it cannot be stored, or undefined. The oldest of too many are dropped. */
  async add(root: string): Promise<string | undefined> {
    return this.#change((known) => (known.includes(root) ? known : [...known, root].slice(-MAX_ROOTS)));
  }

  /** Returns why it cannot be withdrawn, or undefined. */
  async remove(root: string): Promise<string | undefined> {
    return this.#change((known) => (known.includes(root) ? known.filter((one) => one !== root) : known));
  }

  /** Stores what `change` returns, unless that is what it was given. */
  async #change(change: (known: readonly string[]) => readonly string[]): Promise<string | undefined> {
    const folder = await ensureFolder(this.#home);
    if (!folder.ok) return folder.error.reason;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const former = await readTextWithin(this.#path, MAX_BYTES);
      const known = former.ok ? rootsIn(former.value) : [];
      const roots = change(known);
      if (roots === known) return undefined;
      const file = { text: `${JSON.stringify({ version: 1, roots }, null, 2)}\n`, mode: 0o600 };
      const written = await writeUnlessChanged(this.#path, former.ok ? former.value : undefined, file);
      if (!written.ok) return written.error.reason;
      if (written.value === 'written') return undefined;
    }
    return 'other processes kept changing it';
  }
}

function rootsIn(text: string): readonly string[] {
  const stored = parseJson(text);
  const roots = isJsonObject(stored) ? stored['roots'] : undefined;
  return Array.isArray(roots) ? roots.filter((root) => typeof root === 'string') : [];
}

import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '@assay-mcp/kit/platform/pause';

/** Maximum number of entries to look at. A larger folder counts as changed each time. */
const MAX_ENTRIES = 50_000;
/** Two changes within this time in ms may leave a file with the same times on some file systems. */
const CLOCK_STEP_MS = 20;
const MAX_ATTEMPTS = 5;

/**
 * The state of folders with everything in them: names, sizes, and the times of the last change, which a program cannot
 * set. Says later whether anything has changed since. Contents are not read.
 */
export class FolderVersion {
  readonly #folders: readonly string[];
  readonly #maxEntries: number;
  /** Undefined if a change could go unnoticed. */
  readonly #digest: string | undefined;

  private constructor(folders: readonly string[], maxEntries: number, digest: string | undefined) {
    this.#folders = folders;
    this.#maxEntries = maxEntries;
    this.#digest = digest;
  }

  static async read(folders: readonly string[], maxEntries: number = MAX_ENTRIES): Promise<FolderVersion> {
    for (let attempt = 1; ; attempt += 1) {
      const startedMs = Date.now();
      const { digest, changedMs } = await readFolders(folders, maxEntries);
      const isSettled = changedMs < startedMs - CLOCK_STEP_MS;
      if (isSettled || attempt === MAX_ATTEMPTS)
        return new FolderVersion(folders, maxEntries, isSettled ? digest : undefined);
      await pause(CLOCK_STEP_MS);
    }
  }

  /** Whether nothing has changed since. False if that is not certain. */
  async isCurrent(): Promise<boolean> {
    if (this.#digest === undefined) return false;
    return (await readFolders(this.#folders, this.#maxEntries)).digest === this.#digest;
  }
}

/** The digest is undefined if there are more entries than the maximum. */
async function readFolders(
  folders: readonly string[],
  maxEntries: number,
): Promise<{ readonly digest: string | undefined; readonly changedMs: number }> {
  const hash = createHash('sha256');
  const waiting = [...folders];
  let changedMs = 0;
  let left = maxEntries;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = [...(await readdir(folder).catch(() => [])), '.'];
    left -= names.length;
    if (left < 0) return { digest: undefined, changedMs };
    const facts = await Promise.all(names.map((name) => lstat(join(folder, name)).catch(() => undefined)));
    for (const [at, one] of facts.entries()) {
      const name = names[at] ?? '';
      if (one === undefined) continue;
      const { ino, dev, mode, size, mtimeMs, ctimeMs } = one;
      hash.update(JSON.stringify([folder, name, ino, dev, mode, size, mtimeMs, ctimeMs]));
      changedMs = Math.max(changedMs, ctimeMs);
      if (one.isDirectory() && name !== '.') waiting.push(join(folder, name));
    }
  }
  return { digest: hash.digest('hex'), changedMs };
}

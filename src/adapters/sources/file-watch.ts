import { readFileFacts, readFileFactsNow, toFileMark, type FileFacts } from '../../platform/files.ts';

/** Notifies each time a file may have changed. */
export type WatchFile = (path: string, onChange: () => void) => Promise<{ close(): Promise<void> }>;

/** Modules and documents name further files, so the number and length of paths are limited. */
const MAX_FILES = 1_000;
const MAX_PATH_LENGTH = 4_096;

/** Watches the files of one source. */
export class FileWatch {
  readonly #watch: WatchFile | undefined;
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Promise<Awaited<ReturnType<WatchFile>> | undefined>>();
  #isClosed = false;

  constructor(watch: WatchFile | undefined, onChange: () => void) {
    this.#watch = watch;
    this.#onChange = onChange;
  }

  add(path: string): void {
    if (this.#watch === undefined || this.#isClosed || this.#watched.has(path)) return;
    if (this.#watched.size >= MAX_FILES || path.length > MAX_PATH_LENGTH) return;
    // A change to a file that cannot be watched takes effect at the next start.
    const watching = this.#begin(path, this.#watch).catch(() => undefined);
    this.#watched.set(path, watching);
  }

  /** Watches these files and no others. */
  follow(paths: readonly string[]): void {
    for (const [path, watching] of this.#watched) {
      if (paths.includes(path)) continue;
      this.#watched.delete(path);
      void watching.then((watcher) => watcher?.close());
    }
    for (const path of paths) this.add(path);
  }

  /** Also reports a change made while the watch was being set up. */
  async #begin(path: string, watch: WatchFile): ReturnType<WatchFile> {
    const before = toFileMark(factsOf(path));
    const watching = await watch(path, () => this.#onChange());
    if (toFileMark(await readFileFacts(path)) !== before && !this.#isClosed) this.#onChange();
    return watching;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = [...this.#watched.values()].map(async (watching) => (await watching)?.close());
    this.#watched.clear();
    await Promise.all(closing);
  }
}

/** A file that cannot be inspected is watched as if it were missing. */
function factsOf(path: string): FileFacts | undefined {
  try {
    return readFileFactsNow(path);
  } catch {
    return undefined;
  }
}

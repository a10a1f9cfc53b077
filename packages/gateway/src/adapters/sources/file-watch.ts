import type { FileWatcher, WatchFile } from '@assay-mcp/kit/platform/watch-file';

/** Modules and documents name further files, so the number and length of paths are limited. */
const MAX_FILES = 1_000;
const MAX_PATH_LENGTH = 4_096;

/** Watches the files of one source. */
export class FileWatch {
  readonly #watch: WatchFile | undefined;
  readonly #onChange: () => void;
  readonly #watched = new Map<string, FileWatcher>();
  #isClosed = false;

  constructor(watch: WatchFile | undefined, onChange: () => void) {
    this.#watch = watch;
    this.#onChange = onChange;
  }

  add(path: string): void {
    if (this.#watch === undefined || this.#isClosed || this.#watched.has(path)) return;
    if (this.#watched.size >= MAX_FILES || path.length > MAX_PATH_LENGTH) return;
    this.#watched.set(path, this.#watch(path, this.#onChange));
  }

  /** Watches these files and no others. */
  follow(paths: readonly string[]): void {
    for (const [path, watcher] of this.#watched) {
      if (paths.includes(path)) continue;
      this.#watched.delete(path);
      watcher.close();
    }
    for (const path of paths) this.add(path);
  }

  close(): void {
    this.#isClosed = true;
    this.follow([]);
  }
}

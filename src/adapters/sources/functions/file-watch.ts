import { fileFacts, fileFactsNow, fileMarkOf, type FileFacts } from '../../../platform/files.ts';

/** Tells each time that a file may have changed. */
export type WatchFile = (path: string, onChange: () => void) => Promise<{ close(): Promise<void> }>;

/** Module code can name files as its runner does; what it names costs no more than this. */
const MOST_FILES = 1_000;
const LONGEST_PATH = 4_096;

/** The files of one module. */
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
    if (this.#watched.size >= MOST_FILES || path.length > LONGEST_PATH) return;
    // A file that cannot be watched is seen with the next start.
    const watching = this.#begin(path, this.#watch).catch(() => undefined);
    this.#watched.set(path, watching);
  }

  /** What changed while the watching began is a change, too. */
  async #begin(path: string, watch: WatchFile): ReturnType<WatchFile> {
    const before = fileMarkOf(factsOf(path));
    const watching = await watch(path, () => this.#onChange());
    if (fileMarkOf(await fileFacts(path)) !== before && !this.#isClosed) this.#onChange();
    return watching;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = [...this.#watched.values()].map(async (watching) => (await watching)?.close());
    this.#watched.clear();
    await Promise.all(closing);
  }
}

/** What may not even be looked at is watched as if it were not there. */
function factsOf(path: string): FileFacts | undefined {
  try {
    return fileFactsNow(path);
  } catch {
    return undefined;
  }
}

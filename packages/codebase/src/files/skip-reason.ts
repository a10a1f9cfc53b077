/** Why a file, or a whole directory, is not in the index. */
export type SkipReason =
  /** Matched by `.gitignore`, `.mcpignore` or `.git/info/exclude`. */
  | 'ignored'
  /** Dependencies, caches, lock files and source maps: see `default-skips.ts`. */
  | 'default'
  /** Keys, credentials, and files of Assay and the system. Nothing includes them. */
  | 'protected'
  | 'binary'
  | 'minified'
  | 'too_large'
  | 'symlink'
  /** Not a regular file: a FIFO, a socket, a device. */
  | 'special_file'
  | 'unreadable'
  /** The name has control characters, or bytes that are not UTF-8. */
  | 'unusual_name'
  /** It changed each time it was read. */
  | 'changing'
  /** It crashed the thread that read it, even without being parsed. */
  | 'failed'
  /** The limit of files, or of nested directories, was reached. */
  | 'limit';

export type SkipCounts = Readonly<Partial<Record<SkipReason, number>>>;

export interface SkippedFile {
  /** Relative to the root, with `/` between its parts. */
  readonly path: string;
  readonly size_bytes: number;
  readonly reason: SkipReason;
}

const MAX_LARGEST = 5;

/** Keeps the largest of the skipped files, largest first. */
export class LargestSkipped {
  #files: readonly SkippedFile[] = [];

  add(file: SkippedFile): void {
    this.#files = [...this.#files, file]
      .sort((one, other) => other.size_bytes - one.size_bytes)
      .slice(0, MAX_LARGEST);
  }

  get files(): readonly SkippedFile[] {
    return this.#files;
  }
}

/** A sentence, or none if no file is known. */
export function formatLargest(files: readonly SkippedFile[] = []): readonly string[] {
  const shown = files.map(
    ({ path, size_bytes: size, reason }) =>
      `${JSON.stringify(path)} (${Math.ceil(size / 1_024)} KiB, ${reason})`,
  );
  return shown.length === 0 ? [] : [`Largest files skipped: ${shown.join(', ')}.`];
}

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

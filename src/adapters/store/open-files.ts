import type { Refusal } from '../../core/refusal.ts';
import { fileFactsNow } from '../../platform/files.ts';

/** A refusal that leaves a transaction as an exception, so that it is rolled back. */
export class StoreMoved extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super('the files of the store are not the ones that are open');
    this.refusal = refusal;
  }
}

/** Beside the database: the write-ahead log and its index, through which the processes on one database see each other. */
const LOGS = ['-wal', '-shm'] as const;

/**
 * The files of an open database, compared with what is under their names. SQLite writes on into a file that was deleted
 * or moved, and nobody else ever sees what it wrote.
 */
export class OpenFiles {
  readonly #path: string;
  readonly #id: string;
  readonly #logs = new Map<string, string>();

  /** `id`: of the database that is open under `path`. */
  constructor(path: string, id: string) {
    this.#path = path;
    this.#id = id;
  }

  /** STORE_MOVED where the database, or its log, is not the one that is open. Three look-ups of files. */
  fault(): Refusal | undefined {
    const moved = movedFrom(this.#path, this.#id, idOf(this.#path));
    if (moved !== undefined) return moved;
    for (const suffix of LOGS) {
      const now = idOf(`${this.#path}${suffix}`);
      const known = this.#logs.get(suffix);
      // They come with the first access, and stay while a connection is open.
      if (known === undefined && now !== undefined) this.#logs.set(suffix, now);
      if (known !== undefined && now !== known)
        return { code: 'STORE_MOVED', path: `${this.#path}${suffix}`, what: 'log' };
    }
    return undefined;
  }

  /** Throws `StoreMoved`. */
  check(): void {
    const refusal = this.fault();
    if (refusal !== undefined) throw new StoreMoved(refusal);
  }
}

/** STORE_MOVED where the file under `path` is not the one that this process opened first. */
export function movedFrom(path: string, id: string, now: string | undefined): Refusal | undefined {
  if (now === id) return undefined;
  return { code: 'STORE_MOVED', path, what: now === undefined ? 'gone' : 'replaced' };
}

function idOf(path: string): string | undefined {
  try {
    return fileFactsNow(path)?.id;
  } catch {
    return undefined; // a folder above it is gone, or may not be entered any more
  }
}

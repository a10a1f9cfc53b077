import type { Refusal } from '../../core/refusal.ts';
import { readFileFactsNow } from '@assay-mcp/kit/platform/files';

/** Carries a refusal out of a transaction as an exception, so that the transaction is rolled back. */
export class StoreMoved extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super('the files of the store are not the ones that are open');
    this.refusal = refusal;
  }
}

/** Files beside the database: the write-ahead log and its index, through which processes share one database. */
const LOGS = ['-wal', '-shm'] as const;

/**
 * Compares the files of an open database with the files that now have their names. SQLite keeps writing to a file that
 * was deleted or moved, and no other process ever sees those writes.
 */
export class OpenFiles {
  readonly #path: string;
  readonly #id: string;
  readonly #logs = new Map<string, string>();

  /** `id` is the id of the database opened under `path`. */
  constructor(path: string, id: string) {
    this.#path = path;
    this.#id = id;
  }

  /** STORE_MOVED if the database or its log is not the open one. Costs three file lookups. */
  fault(): Refusal | undefined {
    const moved = findMoveRefusal(this.#path, this.#id, idOf(this.#path));
    if (moved !== undefined) return moved;
    for (const suffix of LOGS) {
      const now = idOf(`${this.#path}${suffix}`);
      const known = this.#logs.get(suffix);
      // SQLite creates them on first access and keeps them while a connection is open.
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

/** STORE_MOVED if the file under `path` is not the one that this process opened first. */
export function findMoveRefusal(path: string, id: string, now: string | undefined): Refusal | undefined {
  if (now === id) return undefined;
  return { code: 'STORE_MOVED', path, what: now === undefined ? 'gone' : 'replaced' };
}

function idOf(path: string): string | undefined {
  try {
    return readFileFactsNow(path)?.id;
  } catch {
    return undefined; // a parent folder is gone or no longer accessible
  }
}

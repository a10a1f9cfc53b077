import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { openDatabase, type Database } from '@assay-mcp/kit/platform/sqlite';
import { computeRepositoryId } from './identifiers.ts';
import { getIndexPath } from './index-file.ts';
import type { IndexRefusal } from './index-refusal.ts';
import { toIndexRefusal, isLockedError } from './sqlite-faults.ts';

/** What a lock is for: writing the index, or watching one of its repositories. */
export type LockName = 'index' | `watch-${string}`;

/**
 * The lock of the only process that watches the repository at a path. The name is computed, not read: an index is a file
 * that others may have written.
 */
export function getWatchLock(repositoryPath: string): LockName {
  return `watch-${computeRepositoryId(repositoryPath)}`;
}

/**
 * Held by the only process that writes a project's index, or watches a repository. It is SQLite's lock on an empty
 * database, so it works the same on all systems, and is released when the process ends for any reason.
 */
export class IndexLock {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Undefined while another process holds it. */
  static tryAcquire(folder: string, name: LockName = 'index'): Result<IndexLock | undefined, IndexRefusal> {
    const path = lockPath(folder, name);
    let database: Database | undefined;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Unlike SQLite's, this error says why.
      closeSync(openSync(path, 'a', 0o600));
      database = openDatabase(path, { mode: 'create', timeoutMs: 0 });
      // A journal on disk would outlive a process that is killed.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      return ok(new IndexLock(database));
    } catch (error) {
      database?.close();
      if (isLockedError(error)) return ok(undefined);
      const refusal = toIndexRefusal(error, getIndexPath(folder));
      if (refusal === undefined) throw error;
      return err(refusal);
    }
  }

  release(): void {
    this.#database.close();
  }
}

/** Whether a process is writing the index in `folder`, or holds another lock there. Only reads. */
export function isIndexLocked(folder: string, name: LockName = 'index'): boolean {
  const path = lockPath(folder, name);
  if (!existsSync(path)) return false;
  let database: Database | undefined;
  try {
    database = openDatabase(path, { mode: 'read', timeoutMs: 0 });
    database.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return isLockedError(error);
  } finally {
    database?.close();
  }
}

function lockPath(folder: string, name: LockName): string {
  return join(folder, `${name}.lock.db`);
}

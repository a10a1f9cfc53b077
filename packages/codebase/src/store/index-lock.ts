import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { openDatabase, type Database } from '@assay-mcp/kit/platform/sqlite';
import { getIndexPath } from './index-file.ts';
import type { IndexRefusal } from './index-refusal.ts';
import { toIndexRefusal, isLockedError } from './sqlite-faults.ts';

/**
 * Held by the only process that writes a project's index. It is SQLite's lock on an empty database, so it works the
 * same on all systems, and is released when the process ends for any reason.
 */
export class IndexLock {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Undefined while another process holds it. */
  static tryAcquire(folder: string): Result<IndexLock | undefined, IndexRefusal> {
    const path = lockPath(folder);
    let database: Database | undefined;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Unlike SQLite's, this error says why.
      closeSync(openSync(path, 'a', 0o600));
      database = openDatabase(path, { mode: 'create', timeoutMs: 0 });
      database.exec('BEGIN EXCLUSIVE');
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

/** Whether a process is writing the index in `folder`. Only reads. */
export function isIndexLocked(folder: string): boolean {
  const path = lockPath(folder);
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

function lockPath(folder: string): string {
  return join(folder, 'index.lock.db');
}

import { arch, platform } from 'node:process';
import type { Database } from 'better-sqlite3';
import { getLoadablePath } from 'sqlite-vec';
import { err, ok, type Result } from '../../core/result.ts';

/** The path of sqlite-vec's extension. The error is a phrase: not every platform has a build of it. */
export function sqliteVecPath(): Result<string, string> {
  try {
    return ok(getLoadablePath());
  } catch {
    return err(`sqlite-vec is not installed for ${platform}-${arch}`);
  }
}

/** Makes the functions of sqlite-vec known to a connection, which may be read-only. */
export function loadSqliteVec(db: Database): Result<undefined, string> {
  const path = sqliteVecPath();
  if (!path.ok) return path;
  try {
    db.loadExtension(path.value);
    return ok(undefined);
  } catch (error) {
    return err(`sqlite-vec cannot be loaded (${error instanceof Error ? error.message : String(error)})`);
  }
}

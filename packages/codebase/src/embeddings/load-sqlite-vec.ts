import { arch, platform } from 'node:process';
import { getLoadablePath } from 'sqlite-vec';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Database } from '@assay-mcp/kit/platform/sqlite';

/**
 * Loads sqlite-vec into a connection, which may be read-only. Fails with a phrase, for example on a platform without a
 * build of it.
 */
export function loadSqliteVec(db: Database, find: () => string = getLoadablePath): Result<undefined, string> {
  const where = `${platform}-${arch}`;
  let path: string;
  try {
    path = find();
  } catch {
    return err(`sqlite-vec is not installed for ${where}`);
  }
  try {
    db.loadExtension(path);
    return ok(undefined);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return err(`sqlite-vec cannot be loaded on ${where} (${reason})`);
  }
}

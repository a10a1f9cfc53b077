import { readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getErrorCode, openDatabase, readPragma, type Database } from '@assay-mcp/kit/platform/sqlite';
import { deleteSomeFiles } from './delete-files.ts';
import { getIndexPath } from './index-file.ts';
import { toIndexRefusal } from './sqlite-faults.ts';

/** The largest value that SQLite accepts. */
const NO_LIMIT = 4_294_967_294;
const MIN_FREE_BYTES = 64 * 1024 * 1024;

/**
 * Limits the size of an index so that all indexes beside it have at most `maxBytes` together: a client can create any
 * number of projects.
 */
export function limitSize(
  database: Database,
  { folder, maxBytes }: { readonly folder: string; readonly maxBytes: number },
): void {
  const pageBytes = Number(readPragma(database, 'page_size'));
  const pages = Math.floor((maxBytes - sizeOfOthers(folder)) / pageBytes);
  // SQLite never limits it to less than it has.
  database.exec(`PRAGMA max_page_count = ${Math.max(1, pages)}`);
}

/** Whether an error means that the limit was reached, and not that the disk is full. */
export function isAtLimit(error: unknown, path: string): boolean {
  if (getErrorCode(error) !== 'SQLITE_FULL') return false;
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize > MIN_FREE_BYTES;
}

/** Deletes what unfinished runs have staged, and shrinks the file. */
export async function giveBack(database: Database, path: string): Promise<void> {
  try {
    database.exec(`PRAGMA max_page_count = ${NO_LIMIT}`);
    if (!hasFiles(database, 'live')) return; // The whole file is removed.
    while (hasFiles(database, 'staged') || hasFiles(database, 'superseded')) {
      deleteSomeFiles(database, 'not live');
      await nextTurn();
    }
    database.exec("INSERT INTO chunk_terms (chunk_terms) VALUES ('optimize')");
    database.exec('VACUUM');
  } catch (error) {
    // The rows stay, and the next run that succeeds deletes them.
    if (toIndexRefusal(error, path) === undefined) throw error;
  }
}

/** Removes an index in which nothing is indexed. The caller holds its lock and has closed it. */
export function removeIfEmpty(folder: string): void {
  const path = getIndexPath(folder);
  const database = openDatabase(path, { mode: 'read' });
  const isEmpty = !hasFiles(database, 'live');
  database.close();
  if (isEmpty) for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

function hasFiles(database: Database, state: 'staged' | 'live' | 'superseded'): boolean {
  return database.prepare('SELECT 1 FROM files WHERE state = ? LIMIT 1').get(state) !== undefined;
}

/** The bytes of the other indexes, also of damaged ones that were kept. */
function sizeOfOthers(folder: string): number {
  const own = basename(getIndexPath(folder));
  const all = dirname(folder);
  let bytes = 0;
  for (const project of readdirSync(all, { withFileTypes: true })) {
    if (!project.isDirectory()) continue;
    const isOwn = project.name === basename(folder);
    for (const name of namesIn(join(all, project.name)))
      if (name.startsWith(own) && !(isOwn && [own, `${own}-wal`, `${own}-shm`].includes(name)))
        bytes += statSync(join(all, project.name, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

import { inTransaction, type Database } from '@assay-mcp/kit/platform/sqlite';

/** Which files are deleted: those that were replaced, or also those of runs that did not end. */
export type DeletableFiles = 'superseded' | 'not live';

/** Number of files whose rows are deleted in one transaction. */
const DELETE_FILES = 200;
/** Number of pages that one step merges. */
const MERGE_PAGES = 500;
/** https://sqlite.org/fts5.html#the_deletemerge_configuration_option */
const DEFAULT_DELETE_MERGE = 10;

const CONDITIONS: Readonly<Record<DeletableFiles, string>> = {
  superseded: "state = 'superseded'",
  'not live': "state <> 'live'",
};

/**
 * Deletes some files of any repository with their rows, in one transaction. Returns whether there may be more. Call
 * `mergeTerms` after the last, or run FTS5's `optimize`: FTS5 would merge again after each tenth of the terms that is
 * deleted, which takes most of the time when all files are replaced.
 */
export function deleteSomeFiles(database: Database, which: DeletableFiles): boolean {
  const some = `SELECT id FROM files WHERE ${CONDITIONS[which]} ORDER BY id LIMIT ${DELETE_FILES}`;
  return inTransaction(database, () => {
    setDeleteMerge(database, 0);
    database.exec(
      `DELETE FROM chunk_terms WHERE rowid IN (SELECT id FROM chunks WHERE file_id IN (${some}))`,
    );
    // FTS5 writes what it has deleted before these, so the setting need not outlive the transaction.
    database.exec(`DELETE FROM chunks WHERE file_id IN (${some})`);
    const { changes } = database.prepare(`DELETE FROM files WHERE id IN (${some})`).run();
    setDeleteMerge(database, DEFAULT_DELETE_MERGE);
    return Number(changes) === DELETE_FILES;
  });
}

/** Merges some of the terms, which frees the space of those that are deleted. Returns whether there may be more to do. */
export function mergeTerms(database: Database): boolean {
  const before = countChanges(database);
  database.exec(`INSERT INTO chunk_terms (chunk_terms, rank) VALUES ('merge', ${MERGE_PAGES})`);
  // https://sqlite.org/fts5.html#the_merge_command
  return countChanges(database) - before >= 2;
}

function countChanges(database: Database): number {
  const row = database.prepare('SELECT total_changes() AS count').get() as { readonly count: number };
  return row.count;
}

function setDeleteMerge(database: Database, percent: number): void {
  database.exec(`INSERT INTO chunk_terms (chunk_terms, rank) VALUES ('deletemerge', ${percent})`);
}

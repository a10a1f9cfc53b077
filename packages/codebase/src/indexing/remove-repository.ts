import { setImmediate as nextTurn } from 'node:timers/promises';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { pause } from '@assay-mcp/kit/platform/pause';
import { inTransaction } from '@assay-mcp/kit/platform/sqlite';
import { enterWal, getIndexPath, leaveWal, openForWriting } from '../store/index-file.ts';
import { IndexLock } from '../store/index-lock.ts';
import type { IndexRefusal } from '../store/index-refusal.ts';
import { giveBack, removeIfEmpty } from '../store/index-size.ts';
import { toIndexRefusal } from '../store/sqlite-faults.ts';

export interface RemoveRequest {
  /** Folder of the project's index. */
  readonly folder: string;
  readonly repositoryId: string;
  readonly signal: AbortSignal;
  /** Called while another process writes the index. */
  readonly onWait: () => void;
}

const LOCK_RETRY_MS = 100;

/**
 * Removes a repository and its files from an index; an index without files is deleted. It leaves the results in one
 * transaction. If what follows is interrupted, the next run or removal deletes the rest. CANCELLED: before that.
 */
export async function removeRepository({
  folder,
  repositoryId,
  signal,
  onWait,
}: RemoveRequest): Promise<Result<undefined, IndexRefusal>> {
  const path = getIndexPath(folder);
  const lock = await waitForLock(folder, { signal, onWait });
  if (!lock.ok) return lock;
  try {
    const opened = openForWriting(folder, { replaceDamaged: false });
    if (!opened.ok) return opened;
    const database = opened.value;
    try {
      enterWal(database);
      inTransaction(database, () => {
        database.prepare("UPDATE files SET state = 'superseded' WHERE repository_id = ?").run(repositoryId);
        database
          .prepare('UPDATE repositories SET indexed_at = NULL, last_run = NULL WHERE id = ?')
          .run(repositoryId);
      });
      await nextTurn();
      await giveBack(database, path);
      const isLeft = database
        .prepare('SELECT 1 FROM files WHERE repository_id = ? LIMIT 1')
        .get(repositoryId);
      if (isLeft === undefined) database.prepare('DELETE FROM repositories WHERE id = ?').run(repositoryId);
      leaveWal(database, path);
    } finally {
      database.close();
    }
    removeIfEmpty(folder);
    return ok(undefined);
  } catch (error) {
    const refusal = toIndexRefusal(error, path);
    if (refusal === undefined) throw error;
    return err(refusal);
  } finally {
    lock.value.release();
  }
}

async function waitForLock(
  folder: string,
  { signal, onWait }: Pick<RemoveRequest, 'signal' | 'onWait'>,
): Promise<Result<IndexLock, IndexRefusal>> {
  for (;;) {
    const lock = IndexLock.tryAcquire(folder);
    if (!lock.ok) return lock;
    if (lock.value !== undefined) return ok(lock.value);
    onWait();
    await pause(LOCK_RETRY_MS, signal);
    if (signal.aborted) return err({ code: 'CANCELLED' });
  }
}

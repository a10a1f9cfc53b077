import { basename } from 'node:path';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import type { Result } from '@assay-mcp/kit/result';
import { answerCalls, type ThreadSide } from '@assay-mcp/kit/platform/thread';
import { pause } from '@assay-mcp/kit/platform/pause';
import { ChunkPool } from '../chunks/chunk-pool.ts';
import { CHUNKER_VERSION } from '../chunks/chunk-source.ts';
import type { EmbeddingSettings } from '../embeddings/embedding-settings.ts';
import { walkRepository } from '../files/walk-repository.ts';
import { computeRepositoryId } from '../store/identifiers.ts';
import { getIndexPath, leaveWal, openForWriting } from '../store/index-file.ts';
import { giveBack, limitSize, removeIfEmpty } from '../store/index-size.ts';
import { IndexLock } from '../store/index-lock.ts';
import type { IndexRefusal } from '../store/index-refusal.ts';
import { TERMS_VERSION } from '../terms.ts';
import { indexAndEmbed } from './index-and-embed.ts';
import type { IndexProgress, IndexReport } from './index-report.ts';

/** Startup arguments of the thread. */
export interface IndexWorkerGiven {
  readonly maxFileBytes: number;
  readonly maxIndexBytes: number;
  readonly threads: number;
  readonly embeddings: EmbeddingSettings | undefined;
}

export interface RunRequest {
  readonly id: number;
  /** Folder of the index. */
  readonly folder: string;
  /** The repository's real path. */
  readonly root: string;
  readonly force: boolean;
  readonly protectedPaths: readonly string[];
  /** Its first element becomes 1 when the caller cancels. */
  readonly cancelled: Int32Array<SharedArrayBuffer>;
}

export type RunAnswer =
  /** Another process is writing this index. */
  | { readonly kind: 'locked' }
  | { readonly kind: 'ended'; readonly result: Result<IndexReport, IndexRefusal> };

/** Sent while a run goes on. */
export interface RunProgress {
  readonly id: number;
  readonly progress: IndexProgress;
}

/** Time in ms between two checks of `cancelled`. */
const LOOK_MS = 20;
/** Time in ms between two messages about progress. */
const PROGRESS_MS = 100;
/** Attempts to leave WAL mode, and the time in ms between them, which is longer than a search. */
const LEAVE_ATTEMPTS = 10;
const LEAVE_WAIT_MS = 20;

answerCalls((workerData, side) => {
  const given = workerData as IndexWorkerGiven; // Given by `Indexer`.
  let pool: ChunkPool | undefined;
  const closePool = async (): Promise<void> => {
    const closing = pool;
    pool = undefined;
    await closing?.close();
  };
  return async (method, args) => {
    if (method === 'close') return closePool();
    pool ??= new ChunkPool(given);
    try {
      return await run(args[0] as RunRequest, { pool, given, side }); // Only `Indexer` calls this.
    } catch (error) {
      // A pool whose threads did not start stays closed.
      await closePool();
      throw error;
    }
  };
});

interface RunTools {
  readonly pool: ChunkPool;
  readonly given: IndexWorkerGiven;
  readonly side: ThreadSide;
}

async function run(request: RunRequest, tools: RunTools): Promise<RunAnswer> {
  const { folder, force } = request;
  const lock = IndexLock.tryAcquire(folder);
  if (!lock.ok) return { kind: 'ended', result: lock };
  if (lock.value === undefined) return { kind: 'locked' };
  try {
    const opened = openForWriting(folder, { replaceDamaged: force });
    if (!opened.ok) return { kind: 'ended', result: opened };
    const result = await runOpened(opened.value, request, tools);
    if (!result.ok && result.error.code === 'INDEX_FULL') removeIfEmpty(folder);
    return { kind: 'ended', result };
  } finally {
    lock.value.release();
  }
}

async function runOpened(
  database: Database,
  { id, folder, root, force, protectedPaths, cancelled }: RunRequest,
  { pool, given: { maxFileBytes, maxIndexBytes, embeddings }, side }: RunTools,
): Promise<Result<IndexReport, IndexRefusal>> {
  const path = getIndexPath(folder);
  const aborting = new AbortController();
  const look = (): void => {
    if (Atomics.load(cancelled, 0) !== 0) aborting.abort();
  };
  look();
  const looking = setInterval(look, LOOK_MS);
  const { signal } = aborting;
  try {
    limitSize(database, { folder, maxBytes: maxIndexBytes });
    const result = await indexAndEmbed({
      ...{ database, path, maxIndexBytes },
      repository: { id: computeRepositoryId(root), path: root, name: basename(root) || root },
      force,
      chunkerVersion: CHUNKER_VERSION * 1_000 + TERMS_VERSION,
      walk: (from, signal) => walkRepository(from, { maxFileBytes, protectedPaths, signal }),
      processor: pool,
      embeddings,
      signal,
      onProgress: throttled((progress) => side.send({ id, progress } satisfies RunProgress)),
    });
    if (!result.ok && result.error.code === 'INDEX_FULL') await giveBack(database, path);
    return result;
  } finally {
    clearInterval(looking);
    await rest(database, path);
  }
}

/** Retries, because a search in progress keeps the file open for a moment. */
async function rest(database: Database, path: string): Promise<void> {
  try {
    for (let attempt = 1; !leaveWal(database, path) && attempt < LEAVE_ATTEMPTS; attempt += 1)
      await pause(LEAVE_WAIT_MS);
  } finally {
    database.close();
  }
}

/** Passes on each new phase at once, and other progress at most once per interval. */
function throttled(say: (progress: IndexProgress) => void): (progress: IndexProgress) => void {
  let phase: string | undefined;
  let saidAtMs = -Infinity;
  return (progress) => {
    const isDone = progress.done === progress.total;
    if (progress.phase === phase && !isDone && performance.now() - saidAtMs < PROGRESS_MS) return;
    phase = progress.phase;
    saidAtMs = performance.now();
    say(progress);
  };
}

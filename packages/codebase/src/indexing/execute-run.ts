import { homedir } from 'node:os';
import { basename } from 'node:path';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ThreadSide } from '@assay-mcp/kit/platform/thread';
import { pause } from '@assay-mcp/kit/platform/pause';
import { CHUNKER_VERSION } from '../chunks/chunk-source.ts';
import type { EmbeddingSettings } from '../embeddings/embedding-settings.ts';
import { readGlobalIgnore } from '../files/global-ignore.ts';
import { readGitHead } from '../files/git-head.ts';
import { walkRepository, type WalkResult } from '../files/walk-repository.ts';
import { computeRepositoryId } from '../store/identifiers.ts';
import { getIndexPath, leaveWal, openForWriting, replaceDamaged } from '../store/index-file.ts';
import { giveBack, limitSize, removeIfEmpty } from '../store/index-size.ts';
import { IndexLock, isIndexLocked } from '../store/index-lock.ts';
import { isIndexed, openToRead } from '../store/index-reader.ts';
import type { IndexRefusal } from '../store/index-refusal.ts';
import type { RepositoryRow } from '../store/index-writer.ts';
import { toIndexRefusal } from '../store/sqlite-faults.ts';
import { TERMS_VERSION } from '../terms.ts';
import { findChanges } from './find-changes.ts';
import { indexAndEmbed, toRunRefusal } from './index-and-embed.ts';
import type { FileProcessor } from './index-run.ts';
import { type IndexProgress, type IndexReport, MAX_WATCHED_FOLDERS } from './index-report.ts';

/** Startup arguments of the thread. */
export interface IndexWorkerOptions {
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
  /** The index no longer has the repository that an update is for. */
  | { readonly kind: 'removed' }
  | { readonly kind: 'ended'; readonly result: Result<IndexReport, IndexRefusal> };

export interface UpdateRequest extends Omit<RunRequest, 'force'> {
  /** See `UpdateAnswer`. */
  readonly changedPaths: readonly string[];
}

/** The answer to a request to bring the index up to date if anything has changed. */
export interface UpdateAnswer {
  /** The directories that have indexed files or may get some, relative to the root: empty, or with a trailing slash. */
  readonly directories: readonly string[];
  /** Those of the changed paths whose names exclude them from the index. */
  readonly excluded: readonly string[];
  /** `locked`: another process is writing this index. `removed`: the index no longer has the repository. */
  readonly result: Result<IndexReport | 'unchanged' | 'locked' | 'removed', IndexRefusal>;
}

/** Sent while a run goes on. */
export interface RunProgress {
  readonly id: number;
  readonly progress: IndexProgress;
}

/** The version of the chunks and terms that this version of Assay makes of a file. */
const INDEX_VERSION = CHUNKER_VERSION * 1_000 + TERMS_VERSION;
/** More are never watched, so a longer list need not be passed on; one more shows that there are too many. */
const MAX_DIRECTORIES = MAX_WATCHED_FOLDERS + 1;
/** Time in ms between two checks of `cancelled`. */
const LOOK_MS = 20;
/** Time in ms between two messages about progress. */
const PROGRESS_MS = 100;
/** Attempts to leave WAL mode, and the time in ms between them, which is longer than a search. */
const LEAVE_ATTEMPTS = 10;
const LEAVE_WAIT_MS = 20;

export interface RunTools {
  readonly openPool: () => FileProcessor;
  readonly given: IndexWorkerOptions;
  readonly side: ThreadSide;
}

/** Reads only, unless something has changed and no other process writes. */
export async function executeUpdate(request: UpdateRequest, tools: RunTools): Promise<UpdateAnswer> {
  const { folder, root, changedPaths, cancelled } = request;
  const { signal, stop } = watchFlag(cancelled);
  let walked: WalkResult | undefined;
  const answer = (result: UpdateAnswer['result']): UpdateAnswer => {
    const { directories = [], excluded = [] } = walked ?? {};
    return { directories: directories.slice(0, MAX_DIRECTORIES), excluded, result };
  };
  try {
    if (isIndexLocked(folder)) return answer(ok('locked'));
    const head = readGitHead(root);
    walked = await walk(request, { signal, given: tools.given, changedPaths: new Set(changedPaths) });
    const opened = openToRead(folder);
    if (!opened.ok) return answer(opened);
    const changes = findChanges({
      ...{ database: opened.value, repository: toRepositoryRow(root), walked, head },
      ...{ chunkerVersion: INDEX_VERSION, maxFileBytes: tools.given.maxFileBytes },
    });
    opened.value.close();
    if (changes !== 'changed') return answer(ok(changes));
    const ran = await executeRun({ ...request, force: false }, tools, walked);
    return answer(ran.kind === 'ended' ? ran.result : ok(ran.kind));
  } catch (error) {
    if (signal.aborted) return answer(err({ code: 'CANCELLED' }));
    return answer(
      err(
        toRunRefusal(error, { root, path: getIndexPath(folder), maxIndexBytes: tools.given.maxIndexBytes }),
      ),
    );
  } finally {
    stop();
  }
}

/**
 * `walked`: the files that an update has just listed. The repository may have been removed since then; a removal holds
 * the same lock, so that is checked once the lock is held.
 */
export async function executeRun(
  request: RunRequest,
  tools: RunTools,
  walked?: WalkResult,
): Promise<RunAnswer> {
  const { folder, root, force } = request;
  const lock = IndexLock.tryAcquire(folder);
  if (!lock.ok) return { kind: 'ended', result: lock };
  if (lock.value === undefined) return { kind: 'locked' };
  try {
    if (walked !== undefined && !isStillIndexed(folder, root)) return { kind: 'removed' };
    const opened = openForWriting(folder, { replaceDamaged: force });
    if (!opened.ok) return { kind: 'ended', result: opened };
    let result = await runOpened(opened.value, { ...request, walked }, tools);
    // Damage in the middle of the file shows only when those pages are read or written.
    if (!result.ok && result.error.code === 'INDEX_DAMAGED' && force) {
      const rebuilt = replaceDamaged(folder);
      if (!rebuilt.ok) return { kind: 'ended', result: rebuilt };
      result = await runOpened(rebuilt.value, { ...request, walked }, tools);
    }
    if (!result.ok && result.error.code === 'INDEX_FULL') removeIfEmpty(folder);
    return { kind: 'ended', result };
  } finally {
    lock.value.release();
  }
}

/** False also if the whole index is gone. An index that cannot be read is left to the run, which reports it. */
function isStillIndexed(folder: string, root: string): boolean {
  const opened = openToRead(folder);
  if (!opened.ok) return opened.error.code !== 'NOT_INDEXED';
  try {
    return isIndexed(opened.value, computeRepositoryId(root));
  } catch (error) {
    if (toIndexRefusal(error, getIndexPath(folder)) === undefined) throw error;
    return true;
  } finally {
    opened.value.close();
  }
}

async function runOpened(
  database: Database,
  request: RunRequest & { readonly walked: WalkResult | undefined },
  { openPool, given, side }: RunTools,
): Promise<Result<IndexReport, IndexRefusal>> {
  const { id, folder, root, force, cancelled, walked } = request;
  const { maxIndexBytes, embeddings } = given;
  const path = getIndexPath(folder);
  const { signal, stop } = watchFlag(cancelled);
  try {
    limitSize(database, { folder, maxBytes: maxIndexBytes });
    const result = await indexAndEmbed({
      ...{ database, path, maxIndexBytes, force, embeddings, signal },
      repository: toRepositoryRow(root),
      chunkerVersion: INDEX_VERSION,
      walk: (_, walkSignal) =>
        walked === undefined ? walk(request, { signal: walkSignal, given }) : Promise.resolve(walked),
      processor: openPool(),
      onProgress: throttleProgress((progress) => side.send({ id, progress } satisfies RunProgress)),
    });
    if (!result.ok && result.error.code === 'INDEX_FULL') await giveBack(database, path);
    return result;
  } finally {
    stop();
    await leaveWalAndClose(database, path);
  }
}

function walk(
  { root, protectedPaths }: Pick<RunRequest, 'root' | 'protectedPaths'>,
  {
    signal,
    given: { maxFileBytes },
    changedPaths,
  }: {
    readonly signal: AbortSignal;
    readonly given: IndexWorkerOptions;
    readonly changedPaths?: ReadonlySet<string>;
  },
): Promise<WalkResult> {
  const globalIgnore = readGlobalIgnore({ env: process.env, home: homedir() });
  return walkRepository(root, {
    ...{ maxFileBytes, protectedPaths, globalIgnore, signal },
    ...(changedPaths !== undefined && { changedPaths }),
  });
}

function toRepositoryRow(root: string): RepositoryRow {
  return { id: computeRepositoryId(root), path: root, name: basename(root) || root };
}

/** A signal that aborts when the caller has set the flag. */
function watchFlag(cancelled: RunRequest['cancelled']): {
  readonly signal: AbortSignal;
  readonly stop: () => void;
} {
  const aborting = new AbortController();
  const look = (): void => {
    if (Atomics.load(cancelled, 0) !== 0) aborting.abort();
  };
  look();
  const looking = setInterval(look, LOOK_MS);
  return { signal: aborting.signal, stop: () => clearInterval(looking) };
}

/** Retries, because a search in progress keeps the file open for a moment. */
async function leaveWalAndClose(database: Database, path: string): Promise<void> {
  try {
    for (let attempt = 1; !leaveWal(database, path) && attempt < LEAVE_ATTEMPTS; attempt += 1)
      await pause(LEAVE_WAIT_MS);
  } finally {
    database.close();
  }
}

/** Passes on each new phase at once, and other progress at most once per interval. */
function throttleProgress(say: (progress: IndexProgress) => void): (progress: IndexProgress) => void {
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

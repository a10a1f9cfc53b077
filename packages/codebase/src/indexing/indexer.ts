import { realpath, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { extname, isAbsolute } from 'node:path';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { Thread } from '@assay-mcp/kit/platform/thread';
import { pause } from '@assay-mcp/kit/platform/pause';
import type { EmbeddingSettings } from '../embeddings/embedding-settings.ts';
import type { IndexRefusal } from '../store/index-refusal.ts';
import type { IndexProgress, IndexReport } from './index-report.ts';
import type { IndexWorkerOptions, RunAnswer, RunProgress, RunRequest, UpdateAnswer } from './execute-run.ts';

export interface IndexerOptions {
  /** Larger files are skipped. */
  readonly maxFileBytes?: number;
  /** Maximum size of all indexes beside each other. */
  readonly maxIndexBytes?: number;
  /** Number of threads that parse. */
  readonly threads?: number;
  /** Undefined if no embedding service is configured. */
  readonly embeddings?: EmbeddingSettings | undefined;
  /** The threads end after this many ms without a run. */
  readonly idleMs?: number;
}

export interface IndexRequest {
  /** Folder of the project's index; created if it is missing. */
  readonly folder: string;
  /** The real path of the repository. */
  readonly path: string;
  /** Real paths that are never indexed. */
  readonly protectedPaths?: readonly string[];
  /** Whether to read all files again. */
  readonly force?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called several times a second while there is progress. */
  readonly onProgress?: (progress: IndexProgress) => void;
}

export interface UpdateRequest {
  /** Folder of the project's index. */
  readonly folder: string;
  /** The real path of a repository that is indexed. */
  readonly path: string;
  readonly protectedPaths: readonly string[];
  /** Changed paths of which the caller wants to know whether their names exclude them from the index. */
  readonly changedPaths: readonly string[];
}

/** A run that was requested and has not ended. */
export interface ActiveRun {
  readonly folder: string;
  readonly path: string;
  readonly progress: IndexProgress;
}

export const MAX_FILE_BYTES: number = 2 * 1024 * 1024;
const MAX_INDEX_BYTES = 2 * 1024 ** 3;
const MAX_THREADS = 4;
const IDLE_MS = 30_000;
/** Maximum number of calls in progress, most of them waiting. */
const MAX_CALLS = 32;
/** Time in ms between two attempts to get the lock that another process holds. */
const LOCK_RETRY_MS = 100;
/** Memory for the thread's short-lived values: chunks on their way from the parsers into the index. */
const YOUNG_MIB = 16;

const SCRIPT = new URL(`./index-worker${extname(import.meta.url)}`, import.meta.url);

/** `busy`: a requested run goes first. */
export type UpdateOutcome = Pick<UpdateAnswer, 'directories' | 'excluded'> & {
  readonly result: UpdateAnswer['result'] | Result<'busy', never>;
};

/**
 * Indexes repositories in a separate thread, one at a time, so that this thread stays free. The threads are kept for a
 * while. Runs of several processes on one project exclude each other.
 */
export class Indexer {
  readonly #given: IndexWorkerOptions;
  readonly #idleMs: number;
  readonly #active = new Map<number, ActiveRun & { onProgress: IndexRequest['onProgress'] }>();
  #thread: Thread | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** The updates in progress, by the id of their run. Each element 0 becomes 1 to cancel one. */
  readonly #updates = new Map<number, Int32Array<SharedArrayBuffer>>();
  #lastId = 0;
  #ending: Promise<void> = Promise.resolve();

  constructor({ maxFileBytes, maxIndexBytes, threads, embeddings, idleMs }: IndexerOptions = {}) {
    this.#given = {
      maxFileBytes: maxFileBytes ?? MAX_FILE_BYTES,
      maxIndexBytes: maxIndexBytes ?? MAX_INDEX_BYTES,
      threads: threads ?? Math.min(availableParallelism(), MAX_THREADS),
      embeddings,
    };
    this.#idleMs = idleMs ?? IDLE_MS;
  }

  /** Concurrent calls wait for each other; the later one then finds little to do. */
  async indexRepository(request: IndexRequest): Promise<Result<IndexReport, IndexRefusal>> {
    const { folder, path, signal, onProgress } = request;
    if (this.#active.size - this.#updates.size >= MAX_CALLS)
      return err({ code: 'INDEXER_BUSY', limit: MAX_CALLS });
    const root = await realDirectory(path);
    if (!root.ok) return root;
    if (signal?.aborted === true) return err({ code: 'CANCELLED' });
    const id = ++this.#lastId;
    const cancelled = new Int32Array(new SharedArrayBuffer(4));
    const cancel = (): void => void Atomics.store(cancelled, 0, 1);
    signal?.addEventListener('abort', cancel, { once: true });
    this.#active.set(id, { folder, path: root.value, progress: { phase: 'waiting', done: 0 }, onProgress });
    clearTimeout(this.#idle);
    // What an update has staged is taken over by the next run.
    for (const flag of this.#updates.values()) Atomics.store(flag, 0, 1);
    try {
      if (this.#active.size > 1) this.#report({ id, progress: { phase: 'waiting', done: 0 } });
      return await this.#run(
        {
          ...{ id, folder, root: root.value, force: request.force ?? false, cancelled },
          protectedPaths: request.protectedPaths ?? [],
        },
        signal,
      );
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#active.delete(id);
      if (this.#active.size === 0) this.#endWhenIdle();
    }
  }

  /**
   * Brings the index of a repository up to date if anything has changed; otherwise it writes nothing. It does not wait
   * for a lock, and a call of `indexRepository` cancels it.
   */
  async updateRepository({
    folder,
    path,
    protectedPaths,
    changedPaths,
  }: UpdateRequest): Promise<UpdateOutcome> {
    const outcome = (result: UpdateOutcome['result']): UpdateOutcome => ({ ...NOTHING_FOUND, result });
    if (this.#active.size > this.#updates.size) return outcome(ok('busy'));
    const root = await realDirectory(path);
    if (!root.ok) return outcome(root);
    const id = ++this.#lastId;
    const cancelled = new Int32Array(new SharedArrayBuffer(4));
    this.#updates.set(id, cancelled);
    this.#active.set(id, { folder, path, progress: { phase: 'waiting', done: 0 }, onProgress: undefined });
    clearTimeout(this.#idle);
    try {
      this.#thread ??= this.#start();
      const request = { id, folder, root: root.value, protectedPaths, changedPaths, cancelled };
      const answered = await this.#thread.call('update', [request]);
      if (answered.kind === 'lost') return outcome(err({ code: 'INDEXER_LOST', reason: answered.cause }));
      return answered.value as UpdateAnswer; // Given by `index-worker`.
    } finally {
      this.#updates.delete(id);
      this.#active.delete(id);
      if (this.#active.size === 0) this.#endWhenIdle();
    }
  }

  /** The runs of this process on the index in a folder. An update that has found no change yet is none. */
  activeIn(folder: string): readonly ActiveRun[] {
    return [...this.#active]
      .filter(
        ([id, run]) => run.folder === folder && !(this.#updates.has(id) && run.progress.phase === 'waiting'),
      )
      .map(([, { path, progress }]) => ({ folder, path, progress }));
  }

  /** Ends the threads at once. Current runs are aborted; a later run continues them. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.end();
    await this.#ending;
  }

  async #run(
    request: RunRequest,
    signal: AbortSignal | undefined,
  ): Promise<Result<IndexReport, IndexRefusal>> {
    for (;;) {
      this.#thread ??= this.#start();
      const outcome = await this.#thread.call('run', [request]);
      if (outcome.kind === 'lost') return err({ code: 'INDEXER_LOST', reason: outcome.cause });
      const answer = outcome.value as RunAnswer; // Given by `index-worker`.
      if (answer.kind === 'ended') return answer.result;
      this.#report({ id: request.id, progress: { phase: 'waiting', done: 0 } });
      await pause(LOCK_RETRY_MS, signal).catch(() => undefined);
      if (signal?.aborted === true) return err({ code: 'CANCELLED' });
    }
  }

  #start(): Thread {
    const thread: Thread = new Thread({
      script: SCRIPT,
      given: this.#given,
      youngMiB: YOUNG_MIB,
      onMessage: (message) => this.#report(message as RunProgress), // The only message that `index-worker` sends.
      onLost: () => {
        if (this.#thread === thread) this.#thread = undefined;
      },
    });
    return thread;
  }

  #report({ id, progress }: RunProgress): void {
    const run = this.#active.get(id);
    if (run === undefined) return;
    this.#active.set(id, { ...run, progress });
    run.onProgress?.(progress);
  }

  #endWhenIdle(): void {
    this.#idle = setTimeout(() => {
      const thread = this.#thread;
      this.#thread = undefined;
      if (thread !== undefined) this.#ending = thread.call('close', []).then(() => thread.end());
    }, this.#idleMs).unref();
  }
}

const NOTHING_FOUND = { directories: [], excluded: [] };

async function realDirectory(path: string): Promise<Result<string, IndexRefusal>> {
  const invalid = (reason: string): Result<never, IndexRefusal> =>
    err({ code: 'PATH_INVALID', path, reason });
  if (path.includes('\0')) return invalid('it contains a null character');
  if (!isAbsolute(path)) return invalid('it is not absolute');
  try {
    const root = await realpath(path);
    // It was checked under this path, which must not have become a link since.
    if (root !== path) return invalid('it is a symbolic link, or below one');
    return (await stat(root)).isDirectory() ? ok(root) : invalid('it is not a directory');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return invalid('there is no such directory');
    return invalid(code === 'EACCES' ? 'permission denied' : `the system reports ${String(code)}`);
  }
}

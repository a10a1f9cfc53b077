import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { guardCallback, type Peer } from '@assay-mcp/kit/platform/guarded';
import type { FoundFile } from '../files/walk-repository.ts';
import type { ChunkAnswer, ChunkJob, FileOutcome, WorkerGiven } from './chunk-messages.ts';
import {
  compileOptimized,
  keepUnoptimized,
  selectForOptimizing,
  type ParserModules,
} from './compile-parsers.ts';

export interface ChunkPoolOptions {
  readonly maxFileBytes: number;
  /** Defaults to the number of cores, at most 4. */
  readonly threads?: number;
  /**
   * Time limit for one file, far above what parsing takes. A file that takes longer is cut by lines in another thread.
   */
  readonly maxFileMs?: number;
  /** URL of the script of the threads. */
  readonly script?: URL;
}

export interface ProcessedFile {
  readonly file: FoundFile;
  readonly outcome: FileOutcome;
}

export interface ProcessOptions {
  /** SHA-256 of an indexed file. An unchanged file is not cut again. */
  readonly knownHash?: (file: FoundFile) => string | undefined;
  readonly signal?: AbortSignal;
}

const SCRIPT = new URL(`./chunk-worker${extname(import.meta.url)}`, import.meta.url);
const MAX_THREADS = 4;
const MAX_FILE_MS = 30_000;
/** Number of jobs queued at a thread, so that it need not wait while the thread of the pool is busy. */
const JOBS_AHEAD = 8;
/** Number of threads that may end without answering any job, for example because the grammars are not installed. */
const MAX_FAILED_STARTS = 3;
/** Maximum number of bytes read but not yet taken by the caller of `processAll`. */
const MAX_BYTES_AHEAD = 2 * 1024 * 1024;
const MAX_FILES_AHEAD = 64;
/** Without these limits, threads keep garbage for as long as the machine has memory. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

interface PendingJob {
  readonly job: ChunkJob;
  readonly resolve: (outcome: FileOutcome) => void;
  readonly reject: (error: unknown) => void;
}

interface PoolThread {
  readonly worker: Worker;
  readonly current: Int32Array;
  readonly jobs: Map<number, PendingJob>;
  hasAnswered: boolean;
  /** Whether an answer of it could not be handled; to which of its jobs is not known. */
  isFaulty: boolean;
  /** The job that it was last seen working on, and since when. */
  seen: { readonly id: number; readonly atMs: number };
}

/** Threads that read files and cut them into chunks. A file that crashes a thread is cut by lines in another one. */
export class ChunkPool {
  readonly #options: Required<ChunkPoolOptions>;
  readonly #threads = new Set<PoolThread>();
  readonly #waiting: PendingJob[] = [];
  readonly #watch: NodeJS.Timeout;
  #modules: ParserModules = new Map();
  #lastId = 0;
  #failedStarts = 0;
  #closed: Error | undefined;

  constructor({ threads, maxFileMs = MAX_FILE_MS, maxFileBytes, script = SCRIPT }: ChunkPoolOptions) {
    keepUnoptimized();
    const count = threads ?? Math.min(availableParallelism(), MAX_THREADS);
    this.#options = { maxFileBytes, maxFileMs, threads: count, script };
    this.#watch = setInterval(() => this.#endStuck(), Math.min(maxFileMs / 2, 1_000));
    this.#watch.unref();
  }

  /** Rejects if the pool is closed, or if its threads do not start. */
  process(file: FoundFile, knownHash?: string): Promise<FileOutcome> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const { path, absolutePath } = file;
    const job: ChunkJob = { id: ++this.#lastId, path, absolutePath, knownHash, mayParse: true };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#assign();
    });
  }

  /** Processes files in order. Reads ahead of the caller only within a memory limit. */
  async *processAll(
    files: readonly FoundFile[],
    { knownHash, signal }: ProcessOptions,
  ): AsyncGenerator<ProcessedFile, void, undefined> {
    await this.#optimizeFor(files);
    const ahead: { readonly file: FoundFile; readonly outcome: Promise<FileOutcome> }[] = [];
    let bytesAhead = 0;
    const rest = files[Symbol.iterator]();
    let next = rest.next();
    for (;;) {
      signal?.throwIfAborted();
      while (next.done !== true && ahead.length < MAX_FILES_AHEAD && bytesAhead < MAX_BYTES_AHEAD) {
        const file = next.value;
        const outcome = this.process(file, knownHash?.(file));
        // Awaited below, unless the caller stops earlier.
        outcome.catch(() => undefined);
        ahead.push({ file, outcome });
        bytesAhead += file.size;
        next = rest.next();
      }
      const first = ahead.shift();
      if (first === undefined) return;
      bytesAhead -= first.file.size;
      yield { file: first.file, outcome: await first.outcome };
    }
  }

  /** Ends the threads. Pending jobs reject. */
  async close(): Promise<void> {
    this.#fail(new Error('The pool of threads was closed.'));
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  /** Replaces idle threads that parse with unoptimized code. */
  async #optimizeFor(files: readonly FoundFile[]): Promise<void> {
    const names = selectForOptimizing(files).filter((name) => !this.#modules.has(name));
    if (names.length === 0) return;
    const idle = [...this.#threads].filter(({ jobs }) => jobs.size === 0);
    await Promise.all(idle.map(({ worker }) => worker.terminate()));
    this.#modules = new Map([...this.#modules, ...(await compileOptimized(names))]);
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#threadForJob();
      const pending = thread && this.#waiting.shift();
      if (thread === undefined || pending === undefined) return;
      if (thread.jobs.size === 0) thread.worker.ref();
      thread.jobs.set(pending.job.id, pending);
      thread.worker.postMessage(pending.job);
    }
  }

  #threadForJob(): PoolThread | undefined {
    let least: PoolThread | undefined;
    for (const thread of this.#threads)
      if (thread.jobs.size < (least?.jobs.size ?? JOBS_AHEAD)) least = thread;
    const mayStart = this.#threads.size < this.#options.threads;
    return mayStart && (least === undefined || least.jobs.size > 0) ? this.#start() : least;
  }

  #start(): PoolThread {
    const current = new Int32Array(new SharedArrayBuffer(4));
    const { maxFileBytes } = this.#options;
    const workerData: WorkerGiven = { maxFileBytes, modules: this.#modules, current };
    const worker = new Worker(this.#options.script, { workerData, resourceLimits: MEMORY });
    const thread: PoolThread = {
      worker,
      current,
      jobs: new Map(),
      hasAnswered: false,
      isFaulty: false,
      seen: { id: 0, atMs: 0 },
    };
    this.#threads.add(thread);
    const end = (): void => {
      thread.isFaulty = true;
      void worker.terminate();
    };
    const peer: Peer = { name: 'thread that reads source files', end };
    worker.on(
      'message',
      guardCallback(peer, (answer: ChunkAnswer) => this.#settle(thread, answer)),
    );
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on(
      'exit',
      guardCallback(peer, () => this.#replace(thread, cause)),
    );
    return thread;
  }

  #settle(thread: PoolThread, { id, outcome }: ChunkAnswer): void {
    thread.hasAnswered = true;
    this.#failedStarts = 0;
    const pending = thread.jobs.get(id);
    thread.jobs.delete(id);
    if (thread.jobs.size === 0) thread.worker.unref();
    pending?.resolve(outcome);
    this.#assign();
  }

  #replace(thread: PoolThread, cause: unknown): void {
    this.#threads.delete(thread);
    if (this.#closed !== undefined) return;
    const culprit = Atomics.load(thread.current, 0);
    if (!thread.hasAnswered && culprit === 0) this.#failedStarts += 1;
    if (this.#failedStarts >= MAX_FAILED_STARTS) {
      const error = new Error('The threads that read source files could not be started.', { cause });
      for (const { reject } of thread.jobs.values()) reject(error);
      this.#fail(error);
      return;
    }
    const again: PendingJob[] = [];
    for (const pending of thread.jobs.values()) {
      const { job } = pending;
      if (job.id !== culprit && !thread.isFaulty) again.push(pending);
      else if (job.mayParse) again.push({ ...pending, job: { ...job, mayParse: false } });
      else pending.resolve({ outcome: 'skipped', reason: 'failed' });
    }
    this.#waiting.unshift(...again);
    this.#assign();
  }

  #fail(error: Error): void {
    this.#closed ??= error;
    clearInterval(this.#watch);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#closed);
    for (const { jobs } of this.#threads) for (const { reject } of jobs.values()) reject(this.#closed);
  }

  #endStuck(): void {
    const nowMs = performance.now();
    for (const thread of this.#threads) {
      const id = Atomics.load(thread.current, 0);
      if (id !== thread.seen.id) thread.seen = { id, atMs: nowMs };
      else if (id !== 0 && nowMs - thread.seen.atMs > this.#options.maxFileMs) void thread.worker.terminate();
    }
  }
}

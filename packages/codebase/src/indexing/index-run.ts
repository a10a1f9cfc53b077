import { lstatSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toPrintable } from '@assay-mcp/kit/printable';
import { getErrorCode, type Database } from '@assay-mcp/kit/platform/sqlite';
import type { FileOutcome } from '../chunks/chunk-messages.ts';
import type { ProcessedFile, ProcessOptions } from '../chunks/chunk-pool.ts';
import { type GitHead, readGitHead } from '../files/git-head.ts';
import { LargestSkipped, type SkipReason } from '../files/skip-reason.ts';
import type { FoundFile, WalkResult } from '../files/walk-repository.ts';
import { toFileStamp, STAMP_MARGIN_MS, matchesStamp } from '../store/file-stamp.ts';
import { IndexWriter, type FileStamp, type RepositoryRow, type StoredFile } from '../store/index-writer.ts';
import { writeRunRecord, type RunStatus } from '../store/run-record.ts';
import { ErrorList, formatNothingFound, type IndexProgress, type IndexReport } from './index-report.ts';

/** Reads files and cuts them into chunks, in order, and not far ahead of its caller. */
export interface FileProcessor {
  processAll(files: readonly FoundFile[], options: ProcessOptions): AsyncIterable<ProcessedFile>;
}

export interface IndexRunOptions {
  /** Open for writing; the process holds the index lock. */
  readonly database: Database;
  readonly repository: RepositoryRow;
  readonly force: boolean;
  /** Increased when an unchanged file would yield different chunks or terms. */
  readonly chunkerVersion: number;
  readonly walk: (root: string, signal: AbortSignal) => Promise<WalkResult>;
  readonly processor: FileProcessor;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: IndexProgress) => void;
  /** See `file-stamp.ts`. */
  readonly stampMarginMs?: number;
}

const FAILURES = {
  unreadable: 'it could not be read',
  changing: 'it changed each time it was read',
  failed: 'cutting it into chunks failed',
} as const;

/** A transaction ends after this many files, or after this many characters. */
const BATCH_FILES = 500;
const BATCH_CHARS = 16_000_000;

/**
 * Brings the index of a repository up to date. All changes become visible in one transaction at the end, so an error or
 * an abort leaves the index unchanged; the next run takes over what was staged. Rejects with the reason of the signal,
 * or an error of SQLite or of reading the root.
 */
export async function runIndex(options: IndexRunOptions): Promise<IndexReport> {
  return new IndexRun(options).run();
}

class IndexRun {
  readonly #options: IndexRunOptions;
  readonly #writer: IndexWriter;
  readonly #startedMs = Date.now();
  readonly #startedAtMs = performance.now();
  readonly #errors = new ErrorList();
  readonly #skipped: Partial<Record<SkipReason, number>> = {};
  readonly #largest = new LargestSkipped();
  readonly #goneIds: number[] = [];
  readonly #restamped = new Map<number, FileStamp>();
  #head: GitHead | undefined;
  #unchanged = 0;
  #indexed = 0;
  #chunks = 0;
  /** Number of files in the open transaction. */
  #batchFiles = 0;
  #batchChars = 0;

  constructor(options: IndexRunOptions) {
    this.#options = options;
    this.#writer = new IndexWriter(options.database, options.repository);
  }

  async run(): Promise<IndexReport> {
    const { repository, walk, signal, onProgress, chunkerVersion, force } = this.#options;
    onProgress({ phase: 'scanning', done: 0 });
    this.#head = readGitHead(repository.path);
    const { files, skipped, largest } = await walk(repository.path, signal);
    signal.throwIfAborted();
    Object.assign(this.#skipped, skipped);
    for (const file of largest) this.#largest.add(file);
    const known = this.#writer.chunkerVersion();
    const readAll = force || (known !== undefined && known !== chunkerVersion);
    const plan = planRun(files, this.#writer.storedFiles(), { readAll });
    this.#writer.start(new Date().toISOString(), chunkerVersion);
    try {
      this.#begin();
      this.#take(plan);
      await this.#readAll(plan.toRead, readAll);
      this.#writer.commit();
    } catch (error) {
      if (signal.aborted) this.#writer.commit();
      else this.#writer.rollback();
      throw error;
    }
    onProgress({ phase: 'writing', done: 0 });
    const report = this.#report(files.length);
    this.#flip(report);
    await this.#deleteSuperseded();
    return report;
  }

  #take({ unchanged, takenOver, discarded, missing }: RunPlan): void {
    this.#unchanged = unchanged;
    for (const { chunkCount } of takenOver) {
      this.#indexed += 1;
      this.#chunks += chunkCount;
    }
    this.#writer.discard(discarded.map(({ id }) => id));
    for (const file of missing) this.#takeMissing(file);
  }

  /** Files in a directory that can no longer be read stay in the index. */
  #takeMissing({ id, path }: StoredFile): void {
    const isHidden = (this.#skipped.unreadable ?? 0) > 0 && this.#codeAt(path) === 'EACCES';
    if (!isHidden) this.#goneIds.push(id);
    else {
      this.#unchanged += 1;
      this.#errors.add(`${toPrintable(path)}: permission denied; its former content stays in the index`);
    }
  }

  async #readAll(toRead: readonly FileToRead[], readAll: boolean): Promise<void> {
    const { processor, signal, onProgress } = this.#options;
    const total = toRead.length;
    if (total === 0) return;
    onProgress({ phase: 'reading', done: 0, total });
    const known = new Map(
      readAll ? [] : toRead.map(({ file, live, staged }) => [file.path, (staged ?? live)?.hash]),
    );
    const files = toRead.map(({ file }) => file);
    const knownHash = ({ path }: FoundFile): string | undefined => known.get(path);
    let done = 0;
    for await (const { outcome } of processor.processAll(files, { knownHash, signal })) {
      signal.throwIfAborted();
      const next = toRead[done];
      if (next === undefined) throw new Error('More files were processed than were given.');
      this.#store(next, outcome, readAll);
      done += 1;
      onProgress({ phase: 'reading', done, total });
    }
  }

  #store(next: FileToRead, outcome: FileOutcome, readAll: boolean): void {
    if (outcome.outcome === 'skipped') return this.#storeSkipped(next, outcome.reason);
    const { file, live, staged } = next;
    const stamp = toFileStamp(file, this.#startedMs, this.#options.stampMarginMs ?? STAMP_MARGIN_MS);
    const isAs = (stored: StoredFile | undefined): boolean => !readAll && stored?.hash === outcome.hash;
    if (live !== undefined && isAs(live)) {
      this.#unchanged += 1;
      this.#restamped.set(live.id, stamp);
      if (staged !== undefined) this.#writer.discard([staged.id]);
    } else if (staged !== undefined && isAs(staged)) {
      this.#indexed += 1;
      this.#chunks += staged.chunkCount;
      this.#restamped.set(staged.id, stamp);
    } else if (outcome.outcome === 'chunked') {
      if (staged !== undefined) this.#writer.discard([staged.id]);
      this.#writer.stage({ ...outcome, path: file.path, stamp });
      this.#indexed += 1;
      this.#chunks += outcome.chunks.length;
      this.#endBatchAfter(file.size);
    } else throw new Error('A file has none of the hashes that it was compared with.');
  }

  #storeSkipped({ file, live, staged }: FileToRead, reason: SkipReason): void {
    if (staged !== undefined) this.#writer.discard([staged.id]);
    const hasFailed = reason === 'unreadable' || reason === 'changing' || reason === 'failed';
    const isGone = hasFailed && this.#codeAt(file.path) === 'ENOENT';
    if (live !== undefined && (isGone || !hasFailed)) this.#goneIds.push(live.id);
    if (isGone) return;
    this.#skipped[reason] = (this.#skipped[reason] ?? 0) + 1;
    if (!hasFailed) return this.#largest.add({ path: file.path, size_bytes: file.size, reason });
    if (live !== undefined) this.#unchanged += 1;
    const what = FAILURES[reason];
    const kept = live === undefined ? '' : '; its former content stays in the index';
    this.#errors.add(`${toPrintable(file.path)}: ${what}${kept}`);
  }

  #begin(): void {
    this.#writer.begin();
    this.#batchFiles = this.#batchChars = 0;
  }

  #endBatchAfter(chars: number): void {
    this.#batchFiles += 1;
    this.#batchChars += chars;
    if (this.#batchFiles < BATCH_FILES && this.#batchChars < BATCH_CHARS) return;
    this.#writer.commit();
    this.#begin();
  }

  #report(found: number): IndexReport {
    const { id, path } = this.#options.repository;
    const unreadable = this.#skipped.unreadable ?? 0;
    if (unreadable > 0 && this.#errors.count === 0)
      this.#errors.add(`${unreadable} files or directories could not be read: permission denied`);
    if (found === 0) this.#errors.add(formatNothingFound(path, this.#skipped));
    const status: RunStatus = found === 0 ? 'failed' : this.#errors.count > 0 ? 'partial' : 'success';
    return {
      repository_id: id,
      files_indexed: this.#indexed,
      chunks_created: this.#chunks,
      files_deleted: this.#goneIds.length,
      files_total: this.#indexed + this.#unchanged,
      skipped: this.#skipped,
      skipped_largest: this.#largest.files,
      duration_seconds: Math.round(performance.now() - this.#startedAtMs) / 1_000,
      status,
      errors: this.#errors.texts(),
    };
  }

  #flip({ status, errors, skipped, skipped_largest, duration_seconds }: IndexReport): void {
    const endedAt = new Date().toISOString();
    this.#writer.flip({
      goneIds: this.#goneIds,
      restamped: this.#restamped,
      chunkerVersion: this.#options.chunkerVersion,
      endedAt,
      lastRun: writeRunRecord({
        ended_at: endedAt,
        duration_seconds,
        status,
        errors,
        skipped,
        skipped_largest,
        git: this.#head,
      }),
    });
  }

  /** In steps, so that an abort is noticed. The next run deletes the rest. */
  async #deleteSuperseded(): Promise<void> {
    const { signal, onProgress } = this.#options;
    let done = 0;
    const repeat = async (step: () => boolean): Promise<void> => {
      while (!signal.aborted && step()) {
        done += 1;
        onProgress({ phase: 'writing', done });
        await nextTurn();
      }
    };
    await repeat(() => this.#writer.deleteSuperseded());
    // A few files are merged by FTS5 itself, with what is written next.
    if (done > 0) await repeat(() => this.#writer.mergeTerms());
  }

  /** The error code if a file cannot be read. Undefined if it can. */
  #codeAt(path: string): string | undefined {
    try {
      lstatSync(`${this.#options.repository.path}/${path}`);
      return undefined;
    } catch (error) {
      const code = getErrorCode(error);
      return code === 'ENOTDIR' ? 'ENOENT' : code;
    }
  }
}

/** A file that must be read, with its stored state. */
export interface FileToRead {
  readonly file: FoundFile;
  readonly live: StoredFile | undefined;
  readonly staged: StoredFile | undefined;
}

export interface RunPlan {
  readonly toRead: readonly FileToRead[];
  /** Number of unchanged files. */
  readonly unchanged: number;
  /** Files staged by an interrupted run and unchanged since. */
  readonly takenOver: readonly StoredFile[];
  /** Staged files that must not become visible. */
  readonly discarded: readonly StoredFile[];
  /** Live files that were not found. */
  readonly missing: readonly StoredFile[];
}

/** Decides by stamps which files must be read. With `readAll`, all of them. */
export function planRun(
  found: readonly FoundFile[],
  stored: Iterable<StoredFile>,
  { readAll }: { readonly readAll: boolean },
): RunPlan {
  const known = new Map<string, { live?: StoredFile; staged?: StoredFile }>();
  for (const file of stored) known.set(file.path, { ...known.get(file.path), [file.state]: file });
  const toRead: FileToRead[] = [];
  const takenOver: StoredFile[] = [];
  const discarded: StoredFile[] = [];
  const missing: StoredFile[] = [];
  let unchanged = 0;
  for (const file of found) {
    const { live, staged } = known.get(file.path) ?? {};
    known.delete(file.path);
    if (!readAll && live !== undefined && matchesStamp(live, file)) {
      unchanged += 1;
      if (staged !== undefined) discarded.push(staged);
    } else if (!readAll && staged !== undefined && matchesStamp(staged, file)) takenOver.push(staged);
    else toRead.push({ file, live, staged });
  }
  for (const { live, staged } of known.values()) {
    if (live !== undefined) missing.push(live);
    if (staged !== undefined) discarded.push(staged);
  }
  return { toRead, unchanged, takenOver, discarded, missing };
}

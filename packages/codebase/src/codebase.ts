import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatVectorFailure } from './embeddings/failure-text.ts';
import type { Vectors } from './embeddings/open-vectors.ts';
import type { VectorSearch } from './embeddings/vector-search.ts';
import type { Fault, FaultCode } from './fault.ts';
import type { IndexProgress, IndexReport } from './indexing/index-report.ts';
import { type IndexStatus, readIndexStatus } from './indexing/index-status.ts';
import { Indexer } from './indexing/indexer.ts';
import type { ProjectFolders } from './projects/project-folders.ts';
import type { ProjectId } from './projects/project-id.ts';
import { searchCode, type SearchAnswer, type SearchRequest } from './search/search-code.ts';
import type { CodebaseSettings } from './settings.ts';
import { IndexReader, openToRead } from './store/index-reader.ts';
import { type IndexRefusal, formatIndexRefusal } from './store/index-refusal.ts';
import type { ReportProgress, ToolProgress } from './tools/progress-reporter.ts';

export interface IndexRequest {
  /** The real path of the repository. */
  readonly path: string;
  /** Real paths that are never indexed. */
  readonly protectedPaths: readonly string[];
  readonly force: boolean;
  readonly signal: AbortSignal;
  readonly report: ReportProgress;
}

export interface CodeSearch extends SearchRequest {
  readonly signal: AbortSignal;
}

export interface CodeAnswer extends SearchAnswer {
  /** Sentences about what the search could not do. */
  readonly notes: readonly string[];
}

export interface CodebaseOptions {
  readonly folders: ProjectFolders;
  readonly settings: CodebaseSettings;
}

export interface IndexedRepository {
  readonly id: string;
  /** Its real path when it was indexed. */
  readonly path: string;
}

export interface ProjectStatus extends IndexStatus {
  /** The current run of this process. */
  readonly run: (IndexProgress & { readonly path: string }) | undefined;
}

/** Projects whose index stays open between searches. */
const MAX_OPEN = 16;
/** The same number as the search by words ranks. */
const MAX_VECTOR_MATCHES = 60;

/** The indexes of all projects. */
export class Codebase {
  readonly #folders: ProjectFolders;
  readonly #indexer: Indexer;
  /** Loaded only with an embedding service: HTTP and PostgreSQL are a third of a start. */
  readonly #vectors: Promise<Vectors> | undefined;
  readonly #readers = new Map<ProjectId, IndexReader>();

  #runs = 0;

  constructor({ folders, settings }: CodebaseOptions) {
    const { maxFileBytes, maxIndexBytes, threads, embeddings } = settings;
    this.#folders = folders;
    this.#indexer = new Indexer({
      embeddings,
      ...(maxFileBytes !== undefined && { maxFileBytes }),
      ...(maxIndexBytes !== undefined && { maxIndexBytes }),
      ...(threads !== undefined && { threads }),
    });
    this.#vectors =
      embeddings && import('./embeddings/open-vectors.ts').then(({ openVectors }) => openVectors(embeddings));
  }

  /** Number of runs of this process in progress or waiting. */
  get runs(): number {
    return this.#runs;
  }

  /** Creates the project if it does not exist. */
  async index(
    project: ProjectId,
    { path, protectedPaths, force, signal, report }: IndexRequest,
  ): Promise<Result<IndexReport, Fault>> {
    const folder = this.#folders.folder(project);
    const onProgress = (progress: IndexProgress): void => report(shownProgress(progress));
    this.#runs += 1;
    try {
      const request = { folder, path, protectedPaths, force, signal, onProgress };
      const indexed = await this.#indexer.indexRepository(request);
      return indexed.ok ? indexed : err(toIndexFault(indexed.error));
    } finally {
      this.#runs -= 1;
    }
  }

  /**
   * Reads only. If the search by meaning fails, the result is that of the search by words. Errors: NOT_INDEXED,
   * NOT_FOUND.
   */
  async search(project: ProjectId, request: CodeSearch): Promise<Result<CodeAnswer, Fault>> {
    const meant = await this.#nearest(project, request);
    const vectorMatches = meant?.ok === true ? meant.value : undefined;
    const read = this.#reader(project).readIndexed(request.repositoryId, (database) =>
      searchCode(database, request, { vectorMatches }),
    );
    if (!read.ok) return err(toIndexFault(read.error));
    const failure = meant?.ok === false ? formatVectorFailure(meant.error) : undefined;
    return ok({ ...read.value, notes: failure === undefined ? [] : [`Searched by words only. ${failure}`] });
  }

  /** The indexed repositories of a project. Reads only. Error: NOT_INDEXED. */
  repositories(project: ProjectId): Result<readonly IndexedRepository[], Fault> {
    const read = this.#reader(project).read((database) =>
      database.prepare('SELECT id, path FROM repositories WHERE indexed_at IS NOT NULL').all(),
    );
    return read.ok ? ok(read.value as readonly IndexedRepository[]) : err(toIndexFault(read.error));
  }

  /** Reads only. Undefined if the project has no index. */
  status(project: ProjectId): Result<ProjectStatus | undefined, Fault> {
    const folder = this.#folders.folder(project);
    const run = this.#indexer.activeIn(folder)[0];
    const status = readIndexStatus(folder, this.#reader(project));
    if (status.ok) return ok({ ...status.value, run: run && { path: run.path, ...run.progress } });
    return status.error.code === 'NOT_INDEXED' ? ok(undefined) : err(toIndexFault(status.error));
  }

  async close(): Promise<void> {
    for (const reader of this.#readers.values()) reader.close();
    this.#readers.clear();
    await Promise.all([this.#indexer.close(), this.#vectors?.then((vectors) => vectors.close())]);
  }

  /** Opens its own connection, because the embedding service may take long. Undefined if there is no index. */
  async #nearest(
    project: ProjectId,
    { query: text, signal, ...filter }: CodeSearch,
  ): Promise<Awaited<ReturnType<VectorSearch['search']>> | undefined> {
    const vectors = await this.#vectors;
    const opened = vectors && openToRead(this.#folders.folder(project));
    if (vectors === undefined || opened?.ok !== true) return undefined;
    try {
      const search = vectors.searchIn(opened.value);
      return await search.search({ text, limit: MAX_VECTOR_MATCHES, filter, signal });
    } finally {
      opened.value.close();
    }
  }

  #reader(project: ProjectId): IndexReader {
    const reader = this.#readers.get(project) ?? new IndexReader(this.#folders.folder(project));
    this.#readers.delete(project);
    this.#readers.set(project, reader);
    const [oldest] = this.#readers.keys();
    if (this.#readers.size > MAX_OPEN && oldest !== undefined) {
      this.#readers.get(oldest)?.close();
      this.#readers.delete(oldest);
    }
    return reader;
  }
}

/** Progress counts the files read; the numbers of other phases are only in the message. */
function shownProgress({ phase, done, total }: IndexProgress): ToolProgress {
  const count = total === undefined ? `${done}` : `${done} of ${total}`;
  switch (phase) {
    case 'waiting':
      return { done: 0, message: 'Waiting for another run' };
    case 'scanning':
      return { done: 0, message: `Looking for files: ${count}` };
    case 'reading':
      return { done, total, message: `Reading files: ${count}` };
    case 'embedding':
      return { done: 0, message: `Embedding: ${count}` };
    case 'writing':
      return { done: 0, message: 'Writing the index' };
  }
}

const CODES: Readonly<Record<IndexRefusal['code'], FaultCode>> = {
  NOT_INDEXED: 'NOT_INDEXED',
  INDEX_OUTDATED: 'NOT_INDEXED',
  PATH_INVALID: 'VALIDATION_ERROR',
  INDEXER_BUSY: 'INDEX_BUSY',
  CANCELLED: 'CANCELLED',
  INDEX_TOO_NEW: 'OPERATION_ERROR',
  INDEX_DAMAGED: 'OPERATION_ERROR',
  INDEX_FOREIGN: 'OPERATION_ERROR',
  INDEX_UNAVAILABLE: 'OPERATION_ERROR',
  DISK_FULL: 'OPERATION_ERROR',
  INDEX_FULL: 'INDEX_FULL',
  INDEXER_LOST: 'OPERATION_ERROR',
};

/** Why an index cannot be read or written, as the fault of a tool. */
function toIndexFault(refusal: IndexRefusal): Fault {
  const text = formatIndexRefusal(refusal);
  if (refusal.code === 'PATH_INVALID') return { code: CODES[refusal.code], field: 'repo_path', ...text };
  if (refusal.code === 'NOT_INDEXED' && refusal.repository !== undefined)
    return { code: 'NOT_FOUND', field: 'repository_id', ...text };
  return { code: CODES[refusal.code], ...text };
}

import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatVectorFailure } from './embeddings/failure-text.ts';
import type { Vectors } from './embeddings/open-vectors.ts';
import type { VectorSearch } from './embeddings/vector-search.ts';
import type { Fault, FaultCode } from './fault.ts';
import type { IndexProgress, IndexReport } from './indexing/index-report.ts';
import { type IndexStatus, readIndexStatus } from './indexing/index-status.ts';
import { Indexer, MAX_FILE_BYTES, type UpdateOutcome, type UpdateRequest } from './indexing/indexer.ts';
import type { ProjectFolders } from './projects/project-folders.ts';
import type { ProjectId } from './projects/project-id.ts';
import type { LineMatcher } from './search/line-matcher.ts';
import { searchText } from './search/search-text.ts';
import { searchCode, type SearchAnswer, type SearchRequest } from './search/search-code.ts';
import { findFile, type FoundFile } from './symbols/find-file.ts';
import { describeSymbol } from './symbols/describe-symbol.ts';
import { lookUpSymbol } from './symbols/look-up-symbol.ts';
import type { SymbolAnswer } from './symbols/symbol-answer.ts';
import type { SymbolRequest } from './symbols/symbol-name.ts';
import { Outliner, type OutlineOutcome } from './symbols/outliner.ts';
import type { CodebaseSettings } from './settings.ts';
import type { GitHead } from './files/git-head.ts';
import { readRunRecord } from './store/run-record.ts';
import { IndexReader, openToRead, readIndexedAlone } from './store/index-reader.ts';
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

export interface CodebaseOptions {
  readonly folders: ProjectFolders;
  readonly settings: CodebaseSettings;
}

export interface IndexedRepository {
  readonly id: string;
  /** Its real path when it was indexed. */
  readonly path: string;
  /** What was checked out then; undefined if that is not known. */
  readonly head: GitHead | undefined;
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
  readonly #outliner = new Outliner();
  readonly #maxFileBytes: number;
  readonly #readers = new Map<ProjectId, IndexReader>();

  #runs = 0;

  constructor({ folders, settings }: CodebaseOptions) {
    const { maxFileBytes, maxIndexBytes, threads, embeddings } = settings;
    this.#folders = folders;
    this.#maxFileBytes = maxFileBytes ?? MAX_FILE_BYTES;
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
    const onProgress = (progress: IndexProgress): void => report(toToolProgress(progress));
    this.#runs += 1;
    try {
      const request = { folder, path, protectedPaths, force, signal, onProgress };
      const indexed = await this.#indexer.indexRepository(request);
      return indexed.ok ? indexed : err(toIndexFault(indexed.error));
    } finally {
      this.#runs -= 1;
    }
  }

  /** Brings a repository that is indexed up to date in the background; see `Indexer.updateRepository`. */
  update(project: ProjectId, request: Omit<UpdateRequest, 'folder'>): Promise<UpdateOutcome> {
    return this.#indexer.updateRepository({ ...request, folder: this.#folders.folder(project) });
  }

  /**
   * Reads only. If the search by meaning fails, the result is that of the search by words. Errors: NOT_INDEXED,
   * NOT_FOUND.
   */
  async search(project: ProjectId, request: CodeSearch): Promise<Result<SearchAnswer, Fault>> {
    const meant = await this.#nearest(project, request);
    const vectorMatches = meant?.ok === true ? meant.value : undefined;
    const failure = meant?.ok === false ? formatVectorFailure(meant.error) : undefined;
    const reservedBytes = (request.reservedBytes ?? 0) + (failure?.length ?? 0);
    const read = this.#reader(project).readIndexed(request.repositoryId, (database) =>
      searchCode(database, { ...request, reservedBytes }, { vectorMatches }),
    );
    if (!read.ok) return err(toIndexFault(read.error));
    const { notes } = read.value;
    return ok({
      ...read.value,
      notes: failure === undefined ? notes : [...notes, `Searched by words only. ${failure}`],
    });
  }

  /** The lines that contain a text or match a regular expression. Reads only. Errors: NOT_INDEXED, NOT_FOUND. */
  async searchText(
    project: ProjectId,
    { signal, ...request }: CodeSearch,
    matcher: LineMatcher,
  ): Promise<Result<SearchAnswer, Fault>> {
    const folder = this.#folders.folder(project);
    const read = await readIndexedAlone(folder, request.repositoryId, (database) =>
      searchText(database, request, { matcher, signal }),
    );
    return read.ok ? read : err(toIndexFault(read.error));
  }

  /** Reads the index and the files with the definitions. Errors: NOT_INDEXED, NOT_FOUND. */
  async findSymbol(project: ProjectId, request: SymbolRequest): Promise<Result<SymbolAnswer, Fault>> {
    const read = this.#reader(project).readIndexed(request.repositoryId, (database) =>
      lookUpSymbol(database, request),
    );
    if (!read.ok) return err(toIndexFault(read.error));
    const { limit } = request;
    const options = { outliner: this.#outliner, maxFileBytes: this.#maxFileBytes, limit };
    return ok(await describeSymbol(read.value, options));
  }

  /** Reads only. Errors: NOT_INDEXED, NOT_FOUND, VALIDATION_ERROR, ACCESS_DENIED. */
  findFile(
    project: ProjectId,
    path: string,
    filter: Pick<SymbolRequest, 'repositoryId' | 'repositoryIds'>,
  ): Result<FoundFile, Fault> {
    const read = this.#reader(project).readIndexed(filter.repositoryId, (database) =>
      findFile(database, path, filter),
    );
    return read.ok ? read.value : err(toIndexFault(read.error));
  }

  /** Parses a file as it is now. */
  outline(absolutePath: string): Promise<OutlineOutcome> {
    return this.#outliner.outline({ absolutePath, maxBytes: this.#maxFileBytes });
  }

  /** The indexed repositories of a project. Reads only. Error: NOT_INDEXED. */
  repositories(project: ProjectId): Result<readonly IndexedRepository[], Fault> {
    const read = this.#reader(project).read((database) =>
      database.prepare('SELECT id, path, last_run FROM repositories WHERE indexed_at IS NOT NULL').all(),
    );
    if (!read.ok) return err(toIndexFault(read.error));
    const rows = read.value as readonly { id: string; path: string; last_run: string | null }[];
    return ok(rows.map(({ id, path, last_run }) => ({ id, path, head: readRunRecord(last_run)?.git })));
  }

  /** Removes a repository from the index; waits while another process writes it. */
  async remove(
    project: ProjectId,
    repositoryId: string,
    { signal, report }: Pick<IndexRequest, 'signal' | 'report'>,
  ): Promise<Result<undefined, Fault>> {
    const { removeRepository } = await import('./indexing/remove-repository.ts');
    const onWait = (): void => report(toToolProgress({ phase: 'waiting', done: 0 }));
    this.#readers.get(project)?.close();
    const folder = this.#folders.folder(project);
    const removed = await removeRepository({ folder, repositoryId, signal, onWait });
    if (removed.ok) return removed;
    const { code } = removed.error;
    if (code !== 'CANCELLED') return err(toIndexFault(removed.error));
    return err({ code, message: 'Nothing was removed.', remedy: 'Run the command again to remove it.' });
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
    await Promise.all([
      this.#indexer.close(),
      this.#outliner.close(),
      this.#vectors?.then((vectors) => vectors.close()),
    ]);
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
function toToolProgress({ phase, done, total }: IndexProgress): ToolProgress {
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

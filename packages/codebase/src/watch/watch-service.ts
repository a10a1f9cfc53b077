import { guardCallback } from '@assay-mcp/kit/platform/guarded';
import { readFileFactsNow, toFileMark } from '@assay-mcp/kit/platform/files';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { type Access, type FolderAccess, isInRoots, isProtected } from '../access/folder-access.ts';
import type { Codebase, IndexedRepository } from '../codebase.ts';
import { readEntry } from '../files/read-source.ts';
import { MAX_WATCHED_FOLDERS } from '../indexing/index-report.ts';
import type { ProjectFolders } from '../projects/project-folders.ts';
import type { ProjectId } from '../projects/project-id.ts';
import { getIndexPath } from '../store/index-file.ts';
import { getWatchLock, IndexLock, isIndexLocked } from '../store/index-lock.ts';
import { formatIndexRefusal } from '../store/index-refusal.ts';
import { RepositoryWatch, type WatchEnd } from './repository-watch.ts';
import { MAX_REPOSITORIES, type WatchState } from './watch-state.ts';

export interface WatchServiceOptions {
  readonly codebase: Codebase;
  readonly folders: ProjectFolders;
  readonly access: FolderAccess;
  readonly maxFolders?: number;
  /** Time in ms between two refreshes. */
  readonly intervalMs?: number;
}

/** New indexes, and locks of processes that have ended, are noticed within this time in ms. */
const INTERVAL_MS = 2_000;
/** Time in ms for which the list of folders that may be used is not read again. */
const ACCESS_MS = 30_000;
/** Time in ms until another attempt to watch a repository that cannot be watched. */
const RETRY_MS = 10 * 60_000;
const RETRY_GONE_MS = 60_000;
const GONE = 'its directory or its index could not be read';

interface Entry {
  readonly project: ProjectId;
  readonly repository: IndexedRepository;
}

interface WatchedRepository {
  readonly watch: RepositoryWatch;
  readonly lock: IndexLock;
}
interface Off {
  readonly state: Extract<WatchState, { state: 'off' }>;
  readonly retryAtMs: number;
}

/**
 * Keeps the indexes of repositories up to date in the background: of all that are indexed and in the folders that this
 * process may use. It runs from the start of the server until its end, whatever tools are called, and creates no index.
 * A repository is watched by one process, which holds a lock.
 */
export class WatchService {
  readonly #options: WatchServiceOptions;
  readonly #watched = new Map<string, WatchedRepository>();
  /** What could not be watched. */
  readonly #off = new Map<string, Off>();
  /** What each index had when its file was in this state. */
  readonly #known = new Map<ProjectId, { readonly mark: string; readonly entries: readonly Entry[] }>();
  readonly #timer: NodeJS.Timeout;
  #access: { readonly access: Access; readonly readAtMs: number } | undefined;
  #refreshing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: WatchServiceOptions) {
    this.#options = options;
    // A bug ends one refresh, not the process.
    const refresh = guardCallback({ name: 'index', end: () => undefined }, () => this.#refreshOnce());
    this.#timer = setInterval(refresh, options.intervalMs ?? INTERVAL_MS).unref();
    refresh();
  }

  /** Begins to watch what was indexed since the last refresh. */
  async refresh(): Promise<void> {
    await this.#refreshing;
    this.#access = undefined;
    await this.#refreshOnce();
  }

  /** `path`: that of the repository. */
  stateOf(project: ProjectId, path: string): WatchState {
    const key = toKey(project, path);
    const state = this.#watched.get(key)?.watch.state;
    return (
      state ??
      readOtherProcessState(this.#options.folders, project, path) ??
      this.#off.get(key)?.state ??
      STARTING
    );
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const key of this.#watched.keys()) this.#release(key);
  }

  #refreshOnce(): Promise<void> {
    this.#refreshing ??= this.#refreshAll().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refreshAll(): Promise<void> {
    const access = await this.#readAccess();
    const entries = await this.#listEntries(access);
    if (this.#isClosed) return;
    const wanted = new Set(entries.map(({ project, repository }) => toKey(project, repository.path)));
    for (const key of this.#watched.keys()) if (!wanted.has(key)) this.#release(key);
    for (const key of this.#off.keys()) if (!wanted.has(key)) this.#off.delete(key);
    for (const entry of entries) this.#take(entry, access);
  }

  /** Resolves many paths, so it is not read at each refresh. */
  async #readAccess(): Promise<Access> {
    const nowMs = performance.now();
    if (this.#access === undefined || nowMs > this.#access.readAtMs + ACCESS_MS)
      this.#access = { access: await this.#options.access.current(), readAtMs: nowMs };
    return this.#access.access;
  }

  /** The repositories of the working directory or the declared roots come first. */
  async #listEntries(access: Access): Promise<readonly Entry[]> {
    const { codebase, folders } = this.#options;
    const projects = await folders.all();
    const entries = projects.flatMap((project) => {
      const path = getIndexPath(folders.folder(project));
      const mark = ['', '-wal'].map((suffix) => toFileMark(readFileFactsNow(path + suffix))).join();
      const known = this.#known.get(project);
      if (known?.mark === mark) return known.entries;
      const repositories = codebase.repositories(project);
      const found = repositories.ok ? repositories.value.map((repository) => ({ project, repository })) : [];
      this.#known.set(project, { mark, entries: found });
      return found;
    });
    for (const project of this.#known.keys()) if (!projects.includes(project)) this.#known.delete(project);
    const rankOf = ({ repository }: Entry): number =>
      access.roots?.findIndex((root) => isInside(repository.path, root)) ?? 0;
    return entries
      .filter(({ repository: { path } }) => isInRoots(path, access) && !isProtected(path, access))
      .filter(({ repository: { path } }) => readEntry(path)?.isDirectory() === true)
      .sort((one, other) => rankOf(one) - rankOf(other));
  }

  #take({ project, repository }: Entry, { protectedPaths }: Access): void {
    const { codebase, folders, maxFolders = MAX_WATCHED_FOLDERS } = this.#options;
    const key = toKey(project, repository.path);
    if (this.#watched.has(key) || (this.#off.get(key)?.retryAtMs ?? 0) > performance.now()) return;
    if (this.#watched.size >= MAX_REPOSITORIES)
      return this.#setOff(key, { state: 'off', reason: 'TOO_MANY_REPOSITORIES' }, 0);
    const lock = IndexLock.tryAcquire(folders.folder(project), getWatchLock(repository.path));
    if (!lock.ok) {
      const detail = formatIndexRefusal(lock.error).message.replace(/\.$/, '');
      return this.#setOff(key, { state: 'off', reason: 'UNAVAILABLE', detail }, RETRY_MS);
    }
    if (lock.value === undefined) return;
    const { path } = repository;
    const watch = new RepositoryWatch({
      root: path,
      update: (changedPaths) => codebase.update(project, { path, protectedPaths, changedPaths }),
      maxFolders: () => maxFolders - this.#countFolders() + (this.#watched.get(key)?.watch.size ?? 0),
      onEnd: (end) => this.#onEnd(key, path, end),
    });
    this.#off.delete(key);
    this.#watched.set(key, { watch, lock: lock.value });
  }

  #onEnd(key: string, path: string, end: WatchEnd): void {
    this.#release(key);
    if (end.kind === 'off')
      return this.#setOff(key, { state: 'off', reason: end.reason, detail: end.detail }, RETRY_MS);
    // A directory that is still there would be taken up again at once, and walked each time.
    if (readEntry(path)?.isDirectory() === true)
      this.#setOff(key, { state: 'off', reason: 'UNAVAILABLE', detail: GONE }, RETRY_GONE_MS);
  }

  #setOff(key: string, state: Off['state'], waitMs: number): void {
    this.#off.set(key, { state, retryAtMs: performance.now() + waitMs });
  }

  #release(key: string): void {
    const watched = this.#watched.get(key);
    this.#watched.delete(key);
    watched?.watch.close();
    watched?.lock.release();
  }

  #countFolders(): number {
    let count = 0;
    for (const { watch } of this.#watched.values()) count += watch.size;
    return count;
  }
}

const STARTING: WatchState = { state: 'starting' };

/** That of a process that does not watch. Only reads. */
export function readOtherProcessState(
  folders: ProjectFolders,
  project: ProjectId,
  path: string,
): WatchState | undefined {
  const isHeld = isIndexLocked(folders.folder(project), getWatchLock(path));
  return isHeld ? { state: 'elsewhere' } : undefined;
}

function toKey(project: ProjectId, path: string): string {
  return `${project} ${path}`;
}

import { lstatSync } from 'node:fs';
import { guardCallback } from '@assay-mcp/kit/platform/guarded';
import type { Result } from '@assay-mcp/kit/result';
import { findGitDirectories } from '../files/git-directories.ts';
import type { UpdateOutcome } from '../indexing/indexer.ts';
import { formatIndexRefusal, type IndexRefusal } from '../store/index-refusal.ts';
import { FolderWatchers } from './folder-watchers.ts';
import { isRemoteFolder } from './remote-file-system.ts';
import { type UpdateEnd, UpdateSchedule } from './update-schedule.ts';
import type { UnwatchedReason, WatchState } from './watch-state.ts';

export interface RepositoryWatchOptions {
  /** The repository's real path. */
  readonly root: string;
  /** Brings the index up to date if anything has changed. `changedPaths`: see `UpdateAnswer`. */
  readonly update: (changedPaths: readonly string[]) => Promise<UpdateOutcome>;
  /** Number of folders that this repository may have. */
  readonly maxFolders: () => number;
  /** Called once if it cannot be watched, or the index no longer has it. */
  readonly onEnd: (end: WatchEnd) => void;
}

/** `gone`: the directory, or its part of the index. */
export type WatchEnd =
  | { readonly kind: 'gone' }
  | { readonly kind: 'off'; readonly reason: UnwatchedReason; readonly detail: string };

/** Changed paths that are looked up one by one; with more, each counts as a change. */
const MAX_CHANGED_PATHS = 1_000;
const MAX_EXCLUDED = 10_000;
/** Which files are excluded depends on these. */
const RULES: ReadonlySet<string> = new Set(['.gitignore', '.mcpignore']);
/** Git replaces these with each checkout, commit and `git add`. */
const GIT_FILES: ReadonlySet<string | null> = new Set(['HEAD', 'index', null]);

/** Watches one repository, and has its index updated once its files have been quiet for a moment. */
export class RepositoryWatch {
  readonly #options: RepositoryWatchOptions;
  readonly #schedule = new UpdateSchedule();
  /** Changed paths since the last update began. */
  readonly #changed = new Set<string>();
  /** Paths whose changes do not matter, such as that of a log file that is ignored. */
  readonly #excluded = new Set<string>();
  #folders: FolderWatchers;
  #git: FolderWatchers | undefined;
  #rootId: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isUpdating = false;
  /** Whether all folders have been watched at least once. */
  #isFollowing = false;
  #isClosed = false;
  #isRemote = false;
  #failure: string | undefined;

  constructor(options: RepositoryWatchOptions) {
    this.#options = options;
    this.#folders = this.#openFolders();
    this.#schedule.note(performance.now());
    this.#plan();
  }

  /** Number of watched folders. */
  get size(): number {
    return this.#folders.size;
  }

  get state(): WatchState {
    if (!this.#isFollowing) return { state: 'starting' };
    return { state: 'on', folders: this.size, isRemote: this.#isRemote, failure: this.#failure };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#folders.close();
    this.#git?.close();
  }

  #openFolders(): FolderWatchers {
    return new FolderWatchers({
      root: this.#options.root,
      onChange: (folder, name) => this.#note(folder, name),
    });
  }

  #note(folder: string, name: string | null): void {
    if (name === null || RULES.has(name)) this.#excluded.clear();
    const path = folder + (name ?? '');
    if (this.#excluded.has(path)) return;
    if (this.#changed.size <= MAX_CHANGED_PATHS) this.#changed.add(path);
    this.#noteChange();
  }

  #noteGit(name: string | null): void {
    if (!GIT_FILES.has(name)) return;
    this.#excluded.clear();
    this.#noteChange();
  }

  #noteChange(): void {
    this.#schedule.note(performance.now());
    this.#plan();
  }

  /** A timer that is set is not moved with each change: it looks anew when it fires. */
  #plan(): void {
    const { dueMs } = this.#schedule;
    if (this.#isClosed || this.#isUpdating || this.#timer !== undefined || dueMs === undefined) return;
    const end = (): void =>
      this.#end({ kind: 'off', reason: 'UNAVAILABLE', detail: 'an update failed unexpectedly' });
    const act = guardCallback({ name: 'index', end }, () => {
      this.#timer = undefined;
      if ((this.#schedule.dueMs ?? Infinity) <= performance.now()) return this.#update();
      this.#plan();
      return undefined;
    });
    this.#timer = setTimeout(act, Math.max(1, dueMs - performance.now())).unref();
  }

  async #update(): Promise<void> {
    const startedMs = performance.now();
    this.#isUpdating = true;
    this.#schedule.begin();
    const changedPaths = this.#changed.size > MAX_CHANGED_PATHS ? [] : [...this.#changed];
    this.#changed.clear();
    const { directories, excluded, result } = await this.#options.update(changedPaths);
    if (this.#isClosed) return;
    if (this.#excluded.size + excluded.length > MAX_EXCLUDED) this.#excluded.clear();
    for (const path of excluded) this.#excluded.add(path);
    const end = this.#judge(result);
    if (end === 'gone') {
      this.#end({ kind: 'gone' });
      return;
    }
    if (directories.length > 0) await this.#follow(directories);
    this.#isUpdating = false;
    this.#schedule.end(end, { startedMs, nowMs: performance.now() });
    this.#plan();
  }

  #judge(result: Result<unknown, IndexRefusal>): UpdateEnd | 'gone' {
    if (result.ok) {
      if (result.value === 'removed') return 'gone';
      if (result.value === 'locked' || result.value === 'busy') return 'busy';
      this.#failure = undefined;
      return 'done';
    }
    const { error } = result;
    if (error.code === 'CANCELLED') return 'busy';
    if (error.code === 'PATH_INVALID' || error.code === 'NOT_INDEXED') return 'gone';
    const { message, remedy } = formatIndexRefusal(error);
    this.#failure = `${message} ${remedy}`;
    return 'failed';
  }

  /** What changed in a folder before it was watched is found by another update. */
  async #follow(directories: readonly string[]): Promise<void> {
    const { root, maxFolders } = this.#options;
    if (directories.length > maxFolders()) {
      this.#end({ kind: 'off', reason: 'TOO_MANY_FOLDERS', detail: '' });
      return;
    }
    const rootId = readId(root);
    if (rootId !== this.#rootId) {
      // Another directory has taken its place: its watchers are those of the former one.
      this.#folders.close();
      this.#folders = this.#openFolders();
      this.#rootId = rootId;
      this.#isRemote = isRemoteFolder(root);
    }
    const followed = await this.#folders.follow(directories);
    const git = followed.ok ? await this.#followGit() : followed;
    if (this.#isClosed) return;
    if (!followed.ok || !git.ok) {
      const code = followed.ok ? (git.ok ? '' : git.code) : followed.code;
      const isLimit = code === 'ENOSPC' || code === 'EMFILE';
      this.#end({ kind: 'off', reason: isLimit ? 'SYSTEM_LIMIT' : 'UNAVAILABLE', detail: code });
      return;
    }
    this.#isFollowing = true;
    if (followed.added + git.added > 0) this.#noteChange();
  }

  /** A checkout or a commit changes what the index is of, even if it changes no file. */
  async #followGit(): ReturnType<FolderWatchers['follow']> {
    const own = findGitDirectories(this.#options.root)?.own;
    if (own === undefined) return { ok: true, added: 0 };
    this.#git ??= new FolderWatchers({
      root: own,
      isRecursive: false,
      onChange: (_, name) => this.#noteGit(name),
    });
    return this.#git.follow(['']);
  }

  #end(end: WatchEnd): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.onEnd(end);
  }
}

/** Tells a directory from another one that has taken its place. */
function readId(path: string): string | undefined {
  try {
    const { dev, ino } = lstatSync(path);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

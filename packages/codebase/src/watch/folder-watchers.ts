import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { guardCallback } from '@assay-mcp/kit/platform/guarded';
import { getErrorCode } from '@assay-mcp/kit/platform/sqlite';
import { Turns } from '@assay-mcp/kit/turns';

export interface FolderWatchersOptions {
  /** The real path of the folder that contains the watched ones. */
  readonly root: string;
  /** `name`: an entry of the watched folder; null if the system does not say which. */
  readonly onChange: (folder: string, name: string | null) => void;
  /** Whether one watcher covers a whole tree, as on macOS and Windows. Elsewhere each folder needs one. */
  readonly isRecursive?: boolean;
}

export type Followed =
  /** `added`: number of folders that were not watched before. */
  | { readonly ok: true; readonly added: number }
  /** The code of the system, such as ENOSPC. Nothing is watched any more. */
  | { readonly ok: false; readonly code: string };

/**
 * With more events between two calls of `follow`, the kernel may have dropped some: by default it queues 16,384. All
 * folders are then watched anew.
 */
const MAX_EVENTS = 8_000;
const RECURSIVE: ReadonlySet<NodeJS.Platform> = new Set(['darwin', 'win32']);
/** The codes of folders that cannot be read; their content is not indexed either. */
const UNREADABLE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP']);

/**
 * Watches the given folders, not those below them. The paths are relative to the root: empty, or with a trailing slash.
 * Does not keep the process alive.
 */
export class FolderWatchers {
  readonly #options: FolderWatchersOptions;
  readonly #isRecursive: boolean;
  /** By folder. With a recursive watcher only the root has one. */
  readonly #watchers = new Map<string, FSWatcher | undefined>();
  /** Watched folders that were created, deleted or moved: the watcher may be that of a former folder. */
  readonly #replaced = new Set<string>();
  #events = 0;
  #isClosed = false;

  constructor(options: FolderWatchersOptions) {
    this.#options = options;
    this.#isRecursive = options.isRecursive ?? RECURSIVE.has(process.platform);
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Watches these folders and no others. */
  async follow(folders: readonly string[]): Promise<Followed> {
    const wanted = new Set(folders);
    if (this.#events > MAX_EVENTS) this.#replaced.add('');
    this.#events = 0;
    for (const folder of this.#watchers.keys())
      if (!wanted.has(folder) || this.#isReplaced(folder)) this.#end(folder);
    this.#replaced.clear();
    const turns = new Turns();
    let added = 0;
    for (const folder of wanted) {
      if (this.#isClosed) break;
      if (this.#watchers.has(folder)) continue;
      const code = this.#begin(folder);
      if (code !== undefined && !UNREADABLE.has(code)) {
        this.close();
        return { ok: false, code };
      }
      if (code === undefined) added += 1;
      if (turns.isOver) await turns.next();
    }
    return { ok: true, added };
  }

  close(): void {
    this.#isClosed = true;
    for (const folder of this.#watchers.keys()) this.#end(folder);
  }

  /** Returns the code of the system if the folder cannot be watched. */
  #begin(folder: string): string | undefined {
    if (this.#isRecursive && folder !== '') {
      this.#watchers.set(folder, undefined);
      return undefined;
    }
    try {
      const path = join(this.#options.root, folder);
      const watcher = watch(path, { persistent: false, recursive: this.#isRecursive && folder === '' });
      const drop = (): void => {
        this.#replaced.add(folder);
        this.#options.onChange(folder, null);
      };
      const peer = { name: 'file system', end: drop };
      watcher.on(
        'change',
        guardCallback(peer, (event, name) =>
          this.#take(folder, event, typeof name === 'string' ? name : null),
        ),
      );
      watcher.on('error', drop);
      this.#watchers.set(folder, watcher);
      return undefined;
    } catch (error) {
      const code = getErrorCode(error);
      if (code === '') throw error;
      return code;
    }
  }

  #take(watched: string, event: unknown, name: string | null): void {
    this.#events += 1;
    const parts = name?.split(/[\\/]/) ?? [];
    const entry = parts.pop() ?? null;
    const folder = watched + parts.map((part) => `${part}/`).join('');
    // What is below a folder that is not indexed reaches a recursive watcher only.
    if (!this.#watchers.has(folder)) return;
    if (event === 'rename' && entry !== null) {
      const below = `${folder}${entry}/`;
      if (this.#watchers.has(below)) this.#replaced.add(below);
    }
    this.#options.onChange(folder, entry);
  }

  #isReplaced(folder: string): boolean {
    if (this.#replaced.size === 0) return false;
    for (let end = folder.length; end > 0; end = folder.lastIndexOf('/', end - 2) + 1)
      if (this.#replaced.has(folder.slice(0, end))) return true;
    return this.#replaced.has('');
  }

  #end(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}

import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { StateChange, StateEntry } from './observation.ts';
import type { Source } from './byte-code.ts';
import { isDatabase } from './database-header.ts';
import { STATE_BYTES } from './setup-script.ts';

/** The folders of an overlay: the changes, the result, and the original. */
export interface OverlayFolders {
  /** As the server sees it. */
  readonly path: string;
  readonly upper: string;
  readonly merged: string;
  readonly lower: string;
}

/** Everything that differs from the original, by path. Undefined: deleted. */
export type State = ReadonlyMap<string, StateEntry | undefined>;

const MAX_ENTRIES = 20_000;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_ALL_KEPT_BYTES = 64 * 1024 * 1024;
/** As much as an overlay can hold, so that each changed file is compared by its content. */
const MAX_HASHED_BYTES = STATE_BYTES;
/** Sparse files can be larger in all than what they take of an overlay, and their originals are read too. */
const MAX_ALL_HASHED_BYTES = 2 * STATE_BYTES;
/** Enough to recognize a database by its header. */
const MAX_START_BYTES = 100;
const MAX_SOURCE_BYTES = 256 * 1024;
/** Folders that a server nests deeper than this are not read. */
const MAX_DEPTH = 100;
/** Stands for the bytes of a name that are not valid UTF-8. */
const REPLACEMENT = '\ufffd';

/** What was read so far, in all overlays. */
export interface StateBudget {
  keptBytes: number;
  hashedBytes: number;
  entries: number;
}

/** Reads the state of overlays. The content of files is kept up to a total size. */
export class StateReader {
  readonly #found = new Map<string, StateEntry | undefined>();
  readonly #overlay: OverlayFolders;
  readonly #budget: StateBudget;
  isComplete = true;

  constructor(overlay: OverlayFolders, budget: StateBudget) {
    this.#overlay = overlay;
    this.#budget = budget;
  }

  async read(): Promise<State> {
    await this.#changed('', 0);
    return this.#found;
  }

  /** The entry at a path before the server started. */
  async original(path: string): Promise<StateEntry | undefined> {
    return this.#entry(this.#in(this.#overlay.lower, path));
  }

  async existed(path: string): Promise<boolean> {
    return (await statsAt(this.#in(this.#overlay.lower, path))) !== undefined;
  }

  /** The file at a path as it is now. */
  async source(path: string): Promise<Source | undefined> {
    const at = this.#in(this.#overlay.merged, path);
    const stats = await statsAt(at);
    if (stats?.isFile() !== true) return undefined;
    const file = await readFileEntry(at, { keep: MAX_SOURCE_BYTES, hash: MAX_HASHED_BYTES });
    const entry: StateEntry = {
      type: 'file',
      mode: 0,
      size: stats.size,
      ...file,
    };
    const { size, mtimeMs } = stats;
    return {
      size,
      mtimeMs,
      content: file?.content,
      isDatabase: isDatabase(entry),
    };
  }

  #in(layer: string, path: string): string {
    return join(layer, path.slice(this.#overlay.path.length));
  }

  /** A folder that both layers have. */
  async #changed(folder: string, depth: number): Promise<void> {
    const { upper, lower, merged } = this.#overlay;
    const inUpper = await names(join(upper, folder));
    for (const name of inUpper) {
      const at = join(folder, name);
      const stats = await statsAt(join(upper, at));
      if (stats === undefined) {
        this.#missed(name);
        continue;
      }
      if (stats.isCharacterDevice() && stats.rdev === 0) await this.#deleted(at, depth);
      else if (!stats.isDirectory()) await this.#add(at, join(upper, at));
      else if ((await statsAt(join(lower, at)))?.isDirectory() === true) {
        await this.#add(at, join(upper, at));
        if (this.#isAllowed(depth)) await this.#changed(at, depth + 1);
      } else await this.#created(at, depth);
    }
    // A folder that was deleted and recreated hides its former files without a whiteout for each.
    const inMerged = new Set(await names(join(merged, folder)));
    const known = new Set(inUpper);
    for (const name of await names(join(lower, folder)))
      if (!known.has(name) && !inMerged.has(name)) await this.#deleted(join(folder, name), depth);
  }

  /**
   * An entry that only the upper layer has, with its contents. A renamed folder's contents are visible only in the
   * merged view.
   */
  async #created(at: string, depth: number): Promise<void> {
    const path = join(this.#overlay.merged, at);
    await this.#add(at, path);
    if (!this.#isAllowed(depth)) return;
    if (this.#found.get(this.#seen(at))?.type !== 'folder') return;
    for (const name of await names(path)) await this.#created(join(at, name), depth + 1);
  }

  async #deleted(at: string, depth: number): Promise<void> {
    if (!this.#isAllowed(depth)) return;
    const stats = await statsAt(join(this.#overlay.lower, at));
    if (stats === undefined) {
      this.#missed(at);
      return;
    }
    this.#budget.entries += 1;
    this.#found.set(this.#seen(at), undefined);
    if (!stats.isDirectory()) return;
    for (const name of await names(join(this.#overlay.lower, at)))
      await this.#deleted(join(at, name), depth + 1);
  }

  async #add(at: string, from: string): Promise<void> {
    if (!this.#isAllowed(0)) return;
    this.#budget.entries += 1;
    const entry = await this.#entry(from);
    if (entry === undefined) this.#missed(at);
    else this.#found.set(this.#seen(at), entry);
  }

  /** An entry with a name that is not valid UTF-8 cannot be read by it. Others are gone since they were listed. */
  #missed(name: string): void {
    if (name.includes(REPLACEMENT)) this.isComplete = false;
  }

  #isAllowed(depth: number): boolean {
    if (this.#budget.entries < MAX_ENTRIES && depth < MAX_DEPTH) return true;
    this.isComplete = false;
    return false;
  }

  #seen(at: string): string {
    return join(this.#overlay.path, at);
  }

  async #entry(path: string): Promise<StateEntry | undefined> {
    const stats = await statsAt(path);
    if (stats === undefined) return undefined;
    const mode = stats.mode & 0o7777;
    const modifiedMs = stats.mtimeMs;
    if (stats.isDirectory()) return { type: 'folder', mode };
    if (stats.isSymbolicLink()) return { type: 'link', target: await readlink(path).catch(() => '') };
    if (!stats.isFile()) return { type: 'other', mode };
    const file = await readFileEntry(path, {
      keep: MAX_ALL_KEPT_BYTES - this.#budget.keptBytes,
      hash: MAX_ALL_HASHED_BYTES - this.#budget.hashedBytes,
    });
    this.#budget.keptBytes += file?.content?.length ?? 0;
    if (file?.digest !== undefined) this.#budget.hashedBytes += file.size;
    if (file?.digest === undefined) this.isComplete = false;
    return { type: 'file', mode, modifiedMs, size: file?.size ?? stats.size, ...file };
  }
}

/** Undefined if it cannot be read. The server may replace it meanwhile, even with a FIFO. */
async function readFileEntry(
  path: string,
  limits: { readonly keep: number; readonly hash: number },
): Promise<{ size: number; digest?: string; content?: Buffer; start?: Buffer } | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    const { size } = stats;
    if (!stats.isFile() || size > Math.min(MAX_HASHED_BYTES, limits.hash)) return { size };
    const hash = createHash('sha256');
    const isKept = size <= Math.min(MAX_KEPT_BYTES, limits.keep);
    const kept: Buffer[] = [];
    let start = Buffer.alloc(0);
    const buffer = Buffer.alloc(Math.min(Math.max(size, 1), 1024 * 1024));
    let at = 0;
    while (at <= MAX_HASHED_BYTES) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      if (at === 0) start = Buffer.from(buffer.subarray(0, Math.min(bytesRead, MAX_START_BYTES)));
      at += bytesRead;
      hash.update(buffer.subarray(0, bytesRead));
      if (isKept && at <= MAX_KEPT_BYTES) kept.push(Buffer.from(buffer.subarray(0, bytesRead)));
    }
    if (at > MAX_HASHED_BYTES) return { size };
    const content = isKept && at <= MAX_KEPT_BYTES ? { content: Buffer.concat(kept) } : { start };
    return { size: at, digest: hash.digest('hex'), ...content };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Sorted. Empty if it is not a readable folder. */
async function names(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).toSorted();
}

function statsAt(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

/** The change between two entries at a path; undefined if there is none. */
export function compareEntries(
  path: string,
  before: StateEntry | undefined,
  after: StateEntry | undefined,
): StateChange | undefined {
  if (before === undefined) return after && { path, kind: 'created', after };
  if (after === undefined) return { path, kind: 'deleted', before };
  if (before.type !== after.type) return { path, kind: 'replaced', before, after };
  if (!isSame(before, after)) return { path, kind: 'modified', before, after };
  return isTouched(before, after) ? { path, kind: 'touched', before, after } : undefined;
}

function isTouched(before: StateEntry, after: StateEntry): boolean {
  return before.type === 'file' && after.type === 'file' && before.modifiedMs !== after.modifiedMs;
}

function isSame(a: StateEntry, b: StateEntry): boolean {
  if (a.type === 'link' || b.type === 'link')
    return a.type === b.type && 'target' in a && 'target' in b && a.target === b.target;
  if (a.mode !== b.mode) return false;
  return a.type !== 'file' || b.type !== 'file' || (a.size === b.size && a.digest === b.digest);
}

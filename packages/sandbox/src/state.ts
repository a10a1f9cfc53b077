import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import type { StateChange, StateEntry } from './observation.ts';
import type { Source } from './byte-code.ts';
import { isDatabase } from './database-header.ts';
import { OpenFolder, withParent } from './open-folder.ts';
import { STATE_BYTES } from './setup-script.ts';

/** The folders of an overlay: the changes, the result, and the original. */
export interface OverlayFolders {
  /** As the server sees it. */
  readonly path: string;
  readonly upper: string;
  readonly merged: string;
  readonly lower: string;
  /** Real paths below `lower` that the server cannot see. What is at or below them is left out. */
  readonly hidden?: readonly string[];
}

/** Everything that differs from the original, by path. Undefined: deleted. */
export type State = ReadonlyMap<string, StateEntry | undefined>;

const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** Enough to recognize a database by its header. */
const MAX_START_BYTES = 100;
const MAX_SOURCE_BYTES = 256 * 1024;
/** Folders that a server nests deeper than this are not read. */
const MAX_DEPTH = 100;
/** Stands for the bytes of a name that are not valid UTF-8. */
const REPLACEMENT = '\ufffd';

/** What may still be read, in all overlays. */
export interface StateBudget {
  /** Of content that is kept. */
  keptBytes: number;
  hashedBytes: number;
  entries: number;
}

/** For a server in the sandbox that observes. */
export const OBSERVED_BUDGET: Readonly<StateBudget> = {
  keptBytes: 64 * 1024 * 1024,
  // As much as an overlay can hold, so that each changed file is compared by its content, and its original as well.
  hashedBytes: 2 * STATE_BYTES,
  entries: 20_000,
};

/** For a twin, which is read for each call: enough for a database of some MiB with its original. */
export const TWIN_BUDGET: Readonly<StateBudget> = {
  keptBytes: 16 * 1024 * 1024,
  hashedBytes: 64 * 1024 * 1024,
  entries: 2_000,
};

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
    const { upper, lower, merged } = this.#overlay;
    await using top = await OpenFolder.at(upper);
    await using original = await OpenFolder.at(lower);
    await using result = await OpenFolder.at(merged);
    if (top && original && result)
      await this.#changed('', { upper: top, lower: original, merged: result }, 0);
    else this.isComplete = false;
    return this.#found;
  }

  /** The entry at a path before the server started. */
  async original(path: string): Promise<StateEntry | undefined> {
    const at = this.#at(path);
    if (this.#isHidden(at)) return undefined;
    return withParent(this.#overlay.lower, at, (folder, name) => this.#entry(folder, name));
  }

  async existed(path: string): Promise<boolean> {
    const stats = (folder: OpenFolder, name: string): ReturnType<OpenFolder['stats']> => folder.stats(name);
    return (await withParent(this.#overlay.lower, this.#at(path), stats)) !== undefined;
  }

  /** The file at a path as it is now. */
  async source(path: string): Promise<Source | undefined> {
    const at = this.#at(path);
    if (this.#isHidden(at)) return undefined;
    return withParent(this.#overlay.merged, at, async (folder, name) => {
      const stats = await folder.stats(name);
      if (stats?.isFile() !== true) return undefined;
      const { size, mtimeMs } = stats;
      const file = await this.#file(folder, name, MAX_SOURCE_BYTES);
      const entry: StateEntry = { type: 'file', mode: 0, size, ...file };
      return { size, mtimeMs, content: file?.content, isDatabase: isDatabase(entry) };
    });
  }

  /** The part of a path below the overlay. */
  #at(path: string): string {
    return path.slice(this.#overlay.path.length);
  }

  #isHidden(at: string): boolean {
    const { lower, hidden = [] } = this.#overlay;
    return hidden.some((path) => isInside(join(lower, at), path));
  }

  /** A folder that both layers have. */
  async #changed(folder: string, layers: Layers, depth: number): Promise<void> {
    const { upper, lower, merged } = layers;
    const inUpper = await upper.names();
    for (const name of inUpper) {
      if (!this.#isAllowed(depth)) return;
      const at = join(folder, name);
      const stats = await upper.stats(name);
      if (stats === undefined) {
        this.#missed(name);
        continue;
      }
      if (stats.isCharacterDevice() && stats.rdev === 0) await this.#deleted(at, lower, depth);
      else if (!stats.isDirectory()) await this.#add(at, upper);
      else if ((await lower.stats(name))?.isDirectory() === true) {
        await this.#add(at, upper);
        await using top = await upper.folder(name);
        await using original = await lower.folder(name);
        await using result = await merged.folder(name);
        if (top && original && result)
          await this.#changed(at, { upper: top, lower: original, merged: result }, depth + 1);
        else this.isComplete = false;
      } else await this.#created(at, layers, depth);
    }
    // A folder that was deleted and recreated hides its former files without a whiteout for each.
    const inMerged = new Set(await merged.names());
    const known = new Set(inUpper);
    for (const name of await lower.names())
      if (!known.has(name) && !inMerged.has(name)) await this.#deleted(join(folder, name), lower, depth);
  }

  /**
   * An entry that only the upper layer has, with its contents. A renamed folder's contents are visible only in the
   * merged view. That also has those of hidden folders, so where there are any, the contents are not read.
   */
  async #created(
    at: string,
    { upper, merged }: Pick<Layers, 'upper' | 'merged'>,
    depth: number,
  ): Promise<void> {
    const hidesSome = (this.#overlay.hidden ?? []).length > 0;
    await this.#add(at, hidesSome ? upper : merged);
    if (!this.#isAllowed(depth)) return;
    if (this.#found.get(this.#seen(at))?.type !== 'folder') return;
    const name = basename(at);
    await using top = hidesSome ? await upper.folder(name) : undefined;
    await using result = await merged.folder(name);
    const inMerged = (await result?.names()) ?? [];
    const inUpper = new Set(await top?.names());
    for (const one of inMerged) {
      if (!this.#isAllowed(depth)) return;
      if (result === undefined) return;
      if (!hidesSome) await this.#created(join(at, one), { upper: result, merged: result }, depth + 1);
      else if (top !== undefined && inUpper.has(one))
        await this.#created(join(at, one), { upper: top, merged: result }, depth + 1);
      else this.isComplete = false;
    }
  }

  /** `lower`: the folder that holds it. */
  async #deleted(at: string, lower: OpenFolder, depth: number): Promise<void> {
    if (!this.#isAllowed(depth)) return;
    const name = basename(at);
    const stats = await lower.stats(name);
    if (stats === undefined || this.#isHidden(at)) {
      if (stats !== undefined) this.isComplete = false;
      this.#missed(at);
      return;
    }
    this.#budget.entries -= 1;
    this.#found.set(this.#seen(at), undefined);
    if (!stats.isDirectory()) return;
    await using folder = await lower.folder(name);
    for (const one of (await folder?.names()) ?? [])
      if (folder !== undefined) await this.#deleted(join(at, one), folder, depth + 1);
  }

  /** `from`: the folder that holds it. */
  async #add(at: string, from: OpenFolder): Promise<void> {
    if (!this.#isAllowed(0)) return;
    this.#budget.entries -= 1;
    const entry = await this.#entry(from, basename(at));
    if (entry === undefined) this.#missed(at);
    else this.#found.set(this.#seen(at), entry);
  }

  /** An entry with a name that is not valid UTF-8 cannot be read by it. Others are gone since they were listed. */
  #missed(name: string): void {
    if (name.includes(REPLACEMENT)) this.isComplete = false;
  }

  #isAllowed(depth: number): boolean {
    if (this.#budget.entries > 0 && depth < MAX_DEPTH) return true;
    this.isComplete = false;
    return false;
  }

  #seen(at: string): string {
    return join(this.#overlay.path, at);
  }

  async #entry(folder: OpenFolder, name: string): Promise<StateEntry | undefined> {
    const stats = await folder.stats(name);
    if (stats === undefined) return undefined;
    const mode = stats.mode & 0o7777;
    const modifiedMs = stats.mtimeMs;
    if (stats.isDirectory()) return { type: 'folder', mode };
    if (stats.isSymbolicLink()) return { type: 'link', target: await folder.linkTarget(name) };
    if (!stats.isFile()) return { type: 'other', mode };
    const file = await this.#file(folder, name, Math.min(MAX_KEPT_BYTES, this.#budget.keptBytes));
    this.#budget.keptBytes -= file?.content?.length ?? 0;
    if (file?.digest === undefined) this.isComplete = false;
    return { type: 'file', mode, modifiedMs, size: file?.size ?? stats.size, ...file };
  }

  async #file(folder: OpenFolder, name: string, keep: number): ReturnType<typeof readFileEntry> {
    const limits = { keep, hash: Math.min(STATE_BYTES, this.#budget.hashedBytes) };
    const file = await readFileEntry(folder, name, limits);
    if (file?.digest !== undefined) this.#budget.hashedBytes -= file.size;
    return file;
  }
}

/** The same folder in each layer. */
interface Layers {
  readonly upper: OpenFolder;
  readonly lower: OpenFolder;
  readonly merged: OpenFolder;
}

/** Undefined if it cannot be read. The server may replace it meanwhile, even with a FIFO. */
async function readFileEntry(
  folder: OpenFolder,
  name: string,
  limits: { readonly keep: number; readonly hash: number },
): Promise<{ size: number; digest?: string; content?: Buffer; start?: Buffer } | undefined> {
  const file = await folder.file(name);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    const { size } = stats;
    if (!stats.isFile() || size > limits.hash) return { size };
    const hash = createHash('sha256');
    const isKept = size <= limits.keep;
    const kept: Buffer[] = [];
    let start = Buffer.alloc(0);
    const buffer = Buffer.alloc(Math.min(Math.max(size, 1), 1024 * 1024));
    let at = 0;
    while (at <= limits.hash) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      if (at === 0) start = Buffer.from(buffer.subarray(0, Math.min(bytesRead, MAX_START_BYTES)));
      at += bytesRead;
      hash.update(buffer.subarray(0, bytesRead));
      if (isKept && at <= limits.keep) kept.push(Buffer.from(buffer.subarray(0, bytesRead)));
    }
    if (at > limits.hash) return { size };
    const content = isKept && at <= limits.keep ? { content: Buffer.concat(kept) } : { start };
    return { size: at, digest: hash.digest('hex'), ...content };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
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

import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, type Dirent } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSecretFile, isSecretFolder } from '@assay-mcp/kit/secret-files';
import { CACHE_MARKERS, isBinaryName, isSkippedByDefault, REPOSITORY_DATA } from './default-skips.ts';
import { findGitDirectories } from './git-directories.ts';
import { readTrackedFiles, type TrackedFiles } from './git-index.ts';
import { IgnoreRules, type Verdict } from './ignore-rules.ts';
import { readBytes } from './read-source.ts';
import { LargestSkipped, type SkipCounts, type SkippedFile, type SkipReason } from './skip-reason.ts';

export interface FoundFile {
  /** Relative to the root, with `/` between its parts. */
  readonly path: string;
  readonly absolutePath: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

export interface WalkOptions {
  readonly maxFileBytes: number;
  readonly maxFiles?: number;
  /** Text of the file that git's `core.excludesFile` names. */
  readonly globalIgnore?: string | undefined;
  /** Real paths of files and folders that are skipped whatever an ignore file says. */
  readonly protectedPaths?: readonly string[];
  readonly signal?: AbortSignal;
  /** Changed paths of which the caller wants to know whether their names alone exclude them. */
  readonly changedPaths?: ReadonlySet<string>;
}

export interface WalkResult {
  /** Sorted by directory and name. */
  readonly files: readonly FoundFile[];
  /** What was left out. A skipped directory counts once. */
  readonly skipped: SkipCounts;
  /** The largest of the files that were left out for their size. */
  readonly largest: readonly SkippedFile[];
  /** The directories that were read, relative to the root: empty, or with a trailing slash. */
  readonly directories: readonly string[];
  /** Those of the changed paths that are excluded by their names: no change in them matters. */
  readonly excluded: readonly string[];
}

const MAX_FILES = 200_000;
/** Limits the work, so directories and skipped files count too. */
const MAX_ENTRIES = 2_000_000;
const MAX_DEPTH = 128;
const MAX_IGNORE_FILE_BYTES = 512 * 1024;
const EXCLUDED_BY_NAME: ReadonlySet<SkipReason> = new Set(['ignored', 'default', 'protected', 'binary']);
/** Number of entries between two checks of the signal. */
const TURN_ENTRIES = 2_000;
/**
 * Control characters, which could make a name look like several lines, and the replacement character for bytes that are
 * not UTF-8.
 */
// eslint-disable-next-line no-control-regex -- these are what it looks for
const UNUSUAL_NAME = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;

/**
 * Finds the files of a repository that may be indexed. `root` is a real path. Symbolic links are not followed. Uses synchronous calls, which
 * are several times faster, so it should run in a thread; it checks the signal in between. Rejects if the root cannot
 * be read.
 */
export async function walkRepository(root: string, options: WalkOptions): Promise<WalkResult> {
  options.signal?.throwIfAborted();
  const walk = new Walk(root, options);
  while (walk.step()) {
    await nextTurn();
    options.signal?.throwIfAborted();
  }
  const { files, skipped, largest, directories, excluded } = walk;
  return { files, skipped, largest: largest.files, directories, excluded };
}

interface Directory {
  /** Relative to the root: empty, or with a trailing slash. */
  readonly path: string;
  readonly depth: number;
  /** The rules of its parent directories. */
  readonly rules: IgnoreRules;
  /** The working tree that it is in. */
  readonly tree: WorkingTree | undefined;
  /** Whether it is ignored, and entered only for the files in it that git tracks. */
  readonly isOnlyTracked: boolean;
}

/** The root, or a repository inside of it. */
interface WorkingTree {
  /** Relative to the root: empty, or with a trailing slash. */
  readonly path: string;
  readonly exclude: string | undefined;
  /** Reads git's index the first time. */
  readonly tracks: (path: string) => boolean;
}

class Walk {
  readonly files: FoundFile[] = [];
  readonly skipped: Partial<Record<SkipReason, number>> = {};
  readonly largest = new LargestSkipped();
  readonly directories: string[] = [];
  readonly excluded: string[] = [];
  readonly #changedPaths: ReadonlySet<string> | undefined;
  readonly #root: string;
  readonly #maxFileBytes: number;
  readonly #maxFiles: number;
  readonly #protected: readonly string[];
  readonly #globalIgnore: string | undefined;
  readonly #waiting: Directory[] = [
    { path: '', depth: 0, rules: IgnoreRules.NONE, tree: undefined, isOnlyTracked: false },
  ];
  #entries = 0;

  constructor(
    root: string,
    { maxFileBytes, maxFiles = MAX_FILES, protectedPaths = [], globalIgnore, changedPaths }: WalkOptions,
  ) {
    this.#changedPaths = changedPaths;
    this.#root = root;
    this.#globalIgnore = globalIgnore;
    this.#maxFileBytes = maxFileBytes;
    this.#maxFiles = maxFiles;
    this.#protected = protectedPaths;
  }

  /** Reads some directories. Returns false at the end. */
  step(): boolean {
    const endAt = this.#entries + TURN_ENTRIES;
    while (this.#entries < endAt) {
      const directory = this.#waiting.pop();
      if (directory === undefined) return false;
      this.#entries += 1;
      if (this.#entries > MAX_ENTRIES) this.#skip('limit');
      else this.#read(directory);
    }
    return true;
  }

  #read(directory: Directory): void {
    const { path, depth, rules: outer } = directory;
    const entries = this.#entriesOf(path);
    if (entries === undefined) return;
    if (depth > 0 && entries.some((entry) => entry.isFile() && CACHE_MARKERS.has(entry.name)))
      if (!outer.verdict(path).isTakenIn) return this.#skip('default');
    this.directories.push(path);
    const own = entries.some(({ name }) => name === '.git') ? this.#openTree(path) : undefined;
    const rules = this.#rulesIn(path, { entries, outer, own });
    const inner = { ...directory, rules, tree: own ?? directory.tree };
    const directories: Directory[] = [];
    for (const entry of entries) {
      this.#entries += 1;
      const kept = this.#keep(entry, inner);
      if (kept === undefined) continue;
      if (kept.isFile) this.#add(path + entry.name);
      else if (depth >= MAX_DEPTH) this.#skip('limit');
      else {
        const below = `${path}${entry.name}/`;
        directories.push({
          ...inner,
          path: below,
          depth: depth + 1,
          rules: rules.entering(below),
          isOnlyTracked: kept.isOnlyTracked,
        });
      }
    }
    for (const one of directories.reverse()) this.#waiting.push(one);
  }

  #entriesOf(path: string): Dirent[] | undefined {
    try {
      const entries = readdirSync(join(this.#root, path), { withFileTypes: true });
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      if (path === '') throw error;
      this.#skip('unreadable');
      return undefined;
    }
  }

  #readIgnoreFile(path: string): string | undefined {
    const file = readBytes(path, MAX_IGNORE_FILE_BYTES);
    return file.ok && isUtf8(file.bytes) ? file.bytes.toString().replace(/^\uFEFF/, '') : undefined;
  }

  #openTree(path: string): WorkingTree | undefined {
    const git = findGitDirectories(join(this.#root, path));
    if (git === undefined) return undefined;
    let tracked: TrackedFiles | undefined;
    let isRead = false;
    return {
      path,
      exclude: this.#readIgnoreFile(join(git.common, 'info', 'exclude')),
      tracks: (inTree) => {
        if (!isRead) tracked = readTrackedFiles(git.own);
        isRead = true;
        return tracked?.has(inTree) === true;
      },
    };
  }

  #rulesIn(
    path: string,
    { entries, outer, own }: { entries: readonly Dirent[]; outer: IgnoreRules; own: WorkingTree | undefined },
  ): IgnoreRules {
    const read = (name: string): string | undefined =>
      entries.some((entry) => entry.name === name && entry.isFile())
        ? this.#readIgnoreFile(join(this.#root, path, name))
        : undefined;
    return outer.within(path, {
      global: path === '' ? this.#globalIgnore : undefined,
      exclude: own?.exclude,
      gitignore: read('.gitignore'),
      mcpignore: read('.mcpignore'),
    });
  }

  /** Undefined if it is skipped. */
  #keep(entry: Dirent, directory: Directory): { isFile: boolean; isOnlyTracked: boolean } | undefined {
    const { name } = entry;
    if (REPOSITORY_DATA.has(name)) return undefined;
    const isDirectory = entry.isDirectory();
    const path = `${directory.path}${name}${isDirectory ? '/' : ''}`;
    const { tree, rules } = directory;
    const { isIgnored, isExcluded, isTakenIn } = rules.verdict(path);
    const mustBeTracked = isIgnored || directory.isOnlyTracked;
    const isLeftOut = mustBeTracked && (isExcluded || tree?.tracks(path.slice(tree.path.length)) !== true);
    const reason = this.#reasonToSkip(entry, directory.path, { isIgnored: isLeftOut, isTakenIn });
    if (reason === undefined) return { isFile: !isDirectory, isOnlyTracked: mustBeTracked };
    this.#skip(reason);
    const named = directory.path + name;
    if (EXCLUDED_BY_NAME.has(reason) && this.#changedPaths?.has(named) === true) this.excluded.push(named);
    return undefined;
  }

  #reasonToSkip(
    entry: Dirent,
    directory: string,
    { isIgnored, isTakenIn }: Pick<Verdict, 'isIgnored' | 'isTakenIn'>,
  ): SkipReason | undefined {
    const { name } = entry;
    const isDirectory = entry.isDirectory();
    if (UNUSUAL_NAME.test(name)) return 'unusual_name';
    if (entry.isSymbolicLink()) return 'symlink';
    if (!isDirectory && !entry.isFile()) return 'special_file';
    if (isIgnored) return 'ignored';
    if (this.#isProtected(directory, name, isDirectory)) return 'protected';
    if (isSkippedByDefault(name, isDirectory) && !isTakenIn) return 'default';
    return !isDirectory && isBinaryName(name) ? 'binary' : undefined;
  }

  #isProtected(directory: string, name: string, isDirectory: boolean): boolean {
    if (isDirectory ? isSecretFolder(name) : isSecretFile(name)) return true;
    const path = join(this.#root, directory, name);
    return this.#protected.some(
      (one) =>
        path === one || (!isDirectory && dirname(path) === dirname(one) && isCopy(name, basename(one))),
    );
  }

  #add(path: string): void {
    if (this.files.length >= this.#maxFiles) return this.#skip('limit');
    const absolutePath = join(this.#root, path);
    let facts;
    try {
      facts = lstatSync(absolutePath);
    } catch {
      return this.#skip('unreadable');
    }
    // Some file systems do not report the types of directory entries.
    if (!facts.isFile()) this.#skip(facts.isSymbolicLink() ? 'symlink' : 'special_file');
    else if (facts.size > this.#maxFileBytes) {
      this.#skip('too_large');
      this.largest.add({ path, size_bytes: facts.size, reason: 'too_large' });
    } else
      this.files.push({
        path,
        absolutePath,
        size: facts.size,
        mtimeMs: facts.mtimeMs,
        ctimeMs: facts.ctimeMs,
      });
  }

  #skip(reason: SkipReason): void {
    this.skipped[reason] = (this.skipped[reason] ?? 0) + 1;
  }
}

/** Whether a name is that of a draft or backup of a protected file: `mcp.json.bak` or `.mcp.json.1.tmp`. */
function isCopy(name: string, original: string): boolean {
  return /[.]\w+$/.test(original) && name.replace(/^[.]/, '').startsWith(original);
}

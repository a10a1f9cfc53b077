import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, type Dirent } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSecretFile, isSecretFolder } from '@assay-mcp/kit/secret-files';
import { CACHE_MARKERS, isBinaryName, isSkippedByDefault, REPOSITORY_DATA } from './default-skips.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { readBytes } from './read-source.ts';
import type { SkipCounts, SkipReason } from './skip-reason.ts';

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
  /** Real paths of files and folders that are skipped whatever an ignore file says. */
  readonly protectedPaths?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface WalkResult {
  /** Sorted by directory and name. */
  readonly files: readonly FoundFile[];
  /** What was left out. A skipped directory counts once. */
  readonly skipped: SkipCounts;
}

const MAX_FILES = 200_000;
/** Limits the work, so directories and skipped files count too. */
const MAX_ENTRIES = 2_000_000;
const MAX_DEPTH = 128;
const MAX_IGNORE_FILE_BYTES = 512 * 1024;
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
  return { files: walk.files, skipped: walk.skipped };
}

interface Directory {
  /** Relative to the root: empty, or with a trailing slash. */
  readonly path: string;
  readonly depth: number;
  /** The rules of its parent directories. */
  readonly rules: IgnoreRules;
}

class Walk {
  readonly files: FoundFile[] = [];
  readonly skipped: Partial<Record<SkipReason, number>> = {};
  readonly #root: string;
  readonly #maxFileBytes: number;
  readonly #maxFiles: number;
  readonly #protected: readonly string[];
  readonly #waiting: Directory[] = [{ path: '', depth: 0, rules: IgnoreRules.NONE }];
  #entries = 0;

  constructor(root: string, { maxFileBytes, maxFiles = MAX_FILES, protectedPaths = [] }: WalkOptions) {
    this.#root = root;
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

  #read({ path, depth, rules: outer }: Directory): void {
    const entries = this.#entriesOf(path);
    if (entries === undefined) return;
    if (depth > 0 && entries.some((entry) => entry.isFile() && CACHE_MARKERS.has(entry.name)))
      if (!outer.verdict(path).isTakenIn) return this.#skip('default');
    const rules = this.#rulesIn(path, entries, outer);
    const directories: Directory[] = [];
    for (const entry of entries) {
      this.#entries += 1;
      const kept = this.#keep(entry, path, rules);
      if (kept === 'file') this.#add(path + entry.name);
      else if (kept === 'directory' && depth >= MAX_DEPTH) this.#skip('limit');
      else if (kept === 'directory') {
        const inner = `${path}${entry.name}/`;
        directories.push({ path: inner, depth: depth + 1, rules: rules.entering(inner) });
      }
    }
    for (const directory of directories.reverse()) this.#waiting.push(directory);
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

  #rulesIn(path: string, entries: readonly Dirent[], outer: IgnoreRules): IgnoreRules {
    const has = (name: string): boolean => entries.some((entry) => entry.name === name && entry.isFile());
    const read = (name: string): string | undefined => {
      const file = readBytes(join(this.#root, path, name), MAX_IGNORE_FILE_BYTES);
      return file.ok && isUtf8(file.bytes) ? file.bytes.toString().replace(/^\uFEFF/, '') : undefined;
    };
    return outer.within(path, {
      exclude: path === '' ? read('.git/info/exclude') : undefined,
      gitignore: has('.gitignore') ? read('.gitignore') : undefined,
      mcpignore: has('.mcpignore') ? read('.mcpignore') : undefined,
    });
  }

  #keep(entry: Dirent, directory: string, rules: IgnoreRules): 'file' | 'directory' | undefined {
    const { name } = entry;
    if (REPOSITORY_DATA.has(name)) return undefined;
    const reason = this.#reasonToSkip(entry, directory, rules);
    if (reason === undefined) return entry.isDirectory() ? 'directory' : 'file';
    this.#skip(reason);
    return undefined;
  }

  #reasonToSkip(entry: Dirent, directory: string, rules: IgnoreRules): SkipReason | undefined {
    const { name } = entry;
    const isDirectory = entry.isDirectory();
    if (UNUSUAL_NAME.test(name)) return 'unusual_name';
    if (entry.isSymbolicLink()) return 'symlink';
    if (!isDirectory && !entry.isFile()) return 'special_file';
    const { isIgnored, isTakenIn } = rules.verdict(directory + (isDirectory ? `${name}/` : name));
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
    else if (facts.size > this.#maxFileBytes) this.#skip('too_large');
    else
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

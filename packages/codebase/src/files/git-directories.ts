import { join, resolve } from 'node:path';
import { readBytes, readEntry } from './read-source.ts';

export interface GitDirectories {
  /** With the index and HEAD of this working tree. */
  readonly own: string;
  /** With refs and settings, which linked working trees share. */
  readonly common: string;
}

const MAX_BYTES = 65_536;

/** Undefined if the directory is not the root of a working tree. */
export function findGitDirectories(workingTree: string): GitDirectories | undefined {
  const path = join(workingTree, '.git');
  const found = readEntry(path);
  if (found === undefined) return undefined;
  if (found.isDirectory()) return { own: path, common: path };
  // A linked working tree or a submodule has a file that names the directory.
  const target = /^gitdir: (.+)$/m.exec(readLine(path) ?? '')?.[1];
  if (target === undefined) return undefined;
  const own = resolve(workingTree, target);
  // Git's directory names its working tree in turn. A repository could point at a directory of another one.
  if (!isDirectoryOf(own, workingTree)) return undefined;
  const common = readLine(join(own, 'commondir'));
  return { own, common: common === undefined ? own : resolve(own, common) };
}

/** Whether a directory of git belongs to this working tree: that of a linked one, or of a submodule. */
function isDirectoryOf(own: string, workingTree: string): boolean {
  const linked = readLine(join(own, 'gitdir'));
  if (linked !== undefined) return resolve(own, linked) === join(workingTree, '.git');
  const worktree = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(readText(join(own, 'config')) ?? '')?.[1];
  return worktree !== undefined && resolve(own, worktree) === workingTree;
}

/** The first line of a small file. */
export function readLine(path: string): string | undefined {
  const [line = ''] = (readText(path) ?? '').split(/\r?\n/, 1);
  return line.trim() === '' ? undefined : line.trim();
}

function readText(path: string): string | undefined {
  const read = readBytes(path, MAX_BYTES);
  return read.ok ? read.bytes.toString() : undefined;
}

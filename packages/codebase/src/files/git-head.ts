import { join } from 'node:path';
import { findGitDirectories, readLine } from './git-directories.ts';
import { readBytes } from './read-source.ts';

/** What is checked out in a working tree. */
export interface GitHead {
  /** Null if no branch is checked out. */
  readonly branch: string | null;
  /** The hash of the commit; null before the first one. */
  readonly commit: string | null;
}

/** Undefined if the directory is not the root of a working tree. Only reads. */
export function readGitHead(workingTree: string): GitHead | undefined {
  const git = findGitDirectories(workingTree);
  const head = git && readLine(join(git.own, 'HEAD'));
  if (git === undefined || head === undefined) return undefined;
  const [, ref] = /^ref: (refs\/\S+)$/.exec(head) ?? [];
  if (ref === undefined) return { branch: null, commit: parseHash(head) };
  // The name is a path below the directory; git does not allow `..` in it.
  const commit = ref.includes('..')
    ? null
    : parseHash(readLine(join(git.common, ref)) ?? readPackedRef(git.common, ref));
  return { branch: ref.replace(/^refs\/heads\//, ''), commit };
}

/** Refs that git has moved from their own files into one. */
function readPackedRef(common: string, ref: string): string {
  const read = readBytes(join(common, 'packed-refs'), MAX_PACKED_BYTES);
  const line = read.ok
    ? read.bytes
        .toString()
        .split('\n')
        .find((one) => one.endsWith(` ${ref}`))
    : undefined;
  return line?.split(' ')[0] ?? '';
}

const MAX_PACKED_BYTES = 4 * 1024 * 1024;

function parseHash(text: string): string | null {
  return /^[\da-f]{40,64}$/.test(text) ? text : null;
}

import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { IndexedRepository } from '../codebase.ts';
import { findGitDirectories } from '../files/git-directories.ts';
import { type GitHead, readGitHead } from '../files/git-head.ts';
import { readEntry } from '../files/read-source.ts';

/** Repositories that are looked at. */
const MAX_REPOSITORIES = 10;
const MAX_NOTES = 3;
const MAX_PARENTS = 40;

/**
 * Sentences about indexed repositories that are not what the caller may take them for: gone, with another commit checked
 * out, or another working tree than the one that the working directory is in. Only reads.
 */
export function describeCheckouts(
  repositories: readonly IndexedRepository[],
  directory: string | undefined,
): readonly string[] {
  const looked = repositories.slice(0, MAX_REPOSITORIES);
  const own = directory === undefined ? undefined : describeWorkingTree(looked, directory);
  const others = looked.flatMap((repository) => describeRepository(repository));
  return [...(own === undefined ? [] : [own]), ...others].slice(0, MAX_NOTES);
}

function describeRepository({ path, head }: IndexedRepository): readonly string[] {
  const shown = JSON.stringify(path);
  if (readEntry(path)?.isDirectory() !== true)
    return [`The directory ${shown} does not exist any more; the index still has its files.`];
  const now = head && readGitHead(path);
  if (head === undefined || now === undefined) return [];
  if (head.branch === now.branch && head.commit === now.commit) return [];
  return [
    `${shown} was indexed at ${formatHead(head)} and is now at ${formatHead(now)}. Call index_repository to update the index.`,
  ];
}

/** If the working directory is in a working tree that is not indexed, but another one of its repository is. */
function describeWorkingTree(
  repositories: readonly IndexedRepository[],
  directory: string,
): string | undefined {
  const tree = findWorkingTree(directory);
  if (tree === undefined || repositories.some(({ path }) => path === tree.path)) return undefined;
  const other = repositories.find(({ path }) => {
    const common = findGitDirectories(path)?.common;
    return common !== undefined && resolveReal(common) === tree.common;
  });
  if (other === undefined) return undefined;
  const at = other.head === undefined ? '' : `, at ${formatHead(other.head)}`;
  return `The working directory is in ${JSON.stringify(tree.path)}, which is not indexed. The results are of ${JSON.stringify(other.path)}, another working tree of the same repository${at}.`;
}

function findWorkingTree(directory: string): { readonly path: string; readonly common: string } | undefined {
  let path = directory;
  for (let count = 0; count < MAX_PARENTS; count += 1) {
    const common = findGitDirectories(path)?.common;
    if (common !== undefined) return { path, common: resolveReal(common) };
    const parent = dirname(path);
    if (parent === path) return undefined;
    path = parent;
  }
  return undefined;
}

function resolveReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const SHOWN_DIGITS = 8;

function formatHead({ branch, commit }: GitHead): string {
  const short = commit?.slice(0, SHOWN_DIGITS) ?? 'no commit';
  return branch === null ? `commit ${short}` : `branch ${JSON.stringify(branch)} (${short})`;
}

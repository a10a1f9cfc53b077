import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempDir } from '../../../test/support/paths.ts';
import { readGitHead } from '../src/files/git-head.ts';
import { describeCheckouts } from '../src/indexing/describe-checkouts.ts';

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

function newRepository(): string {
  const root = join(realpathSync(tempDir()), 'app');
  mkdirSync(root);
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'commit', '-q', '--allow-empty', '-m', 'first');
  return root;
}

it('the head is read with loose and packed refs, and without a branch', () => {
  const root = newRepository();
  const commit = git(root, 'rev-parse', 'HEAD');
  expect(readGitHead(root)).toEqual({ branch: 'main', commit });
  git(root, 'pack-refs', '--all');
  expect(readGitHead(root)).toEqual({ branch: 'main', commit });
  git(root, 'checkout', '-q', '--detach');
  expect(readGitHead(root)).toEqual({ branch: null, commit });
  expect(readGitHead(tempDir())).toBeUndefined();
});

it('an index of another branch or commit, and of a repository that is gone, says so', () => {
  const root = newRepository();
  const indexed = [{ id: '1', path: root, head: readGitHead(root) }];
  expect(describeCheckouts(indexed, undefined)).toEqual([]);
  git(root, 'checkout', '-q', '-b', 'feature');
  git(root, 'commit', '-q', '--allow-empty', '-m', 'second');
  const [before, after] = git(root, 'log', '--reverse', '--format=%H')
    .split('\n')
    .map((hash) => hash.slice(0, 8));
  expect(describeCheckouts(indexed, undefined)).toEqual([
    `"${root}" was indexed at branch "main" (${before}) and is now at branch "feature" (${after}). Call index_repository to update the index.`,
  ]);
  rmSync(root, { recursive: true });
  expect(describeCheckouts(indexed, undefined)).toEqual([
    `The directory "${root}" does not exist any more; the index still has its files.`,
  ]);
});

it('a working directory in another working tree than the indexed one is said to be so', () => {
  const root = newRepository();
  const linked = join(root, '..', 'linked');
  git(root, 'worktree', 'add', '-q', linked);
  mkdirSync(join(linked, 'src'));
  const indexed = [{ id: '1', path: root, head: readGitHead(root) }];
  expect(describeCheckouts(indexed, join(root, '..'))).toEqual([]);
  expect(describeCheckouts(indexed, root)).toEqual([]);
  expect(describeCheckouts(indexed, join(linked, 'src'))).toEqual([
    expect.stringMatching(
      /"[^"]*linked", which is not indexed\. The results are of "[^"]*app", another working tree/,
    ),
  ]);
});

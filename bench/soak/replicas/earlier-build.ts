// Builds an earlier commit of this repository in a worktree of its own.
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../targets.ts';

export interface EarlierBuild {
  readonly main: string;
  /** Removes the worktree. */
  readonly remove: () => void;
}

/** `scratch` receives the worktree. Rejects if the commit is unknown or does not build. */
export function buildEarlier(commit: string, scratch: string): EarlierBuild {
  const folder = join(scratch, 'earlier');
  const git = (...args: readonly string[]): void => {
    execFileSync('git', args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  git('worktree', 'add', '--detach', folder, commit);
  const remove = (): void => {
    git('worktree', 'remove', '--force', folder);
  };
  try {
    linkModules(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, ['scripts/build.mjs'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const main = join(folder, 'packages', 'gateway', 'dist', 'main.js');
    if (!existsSync(main)) throw new Error(`${commit} has no ${main}`);
    return { main, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Packages of npm are shared; those of the workspace are the worktree's own, whose links are relative. */
function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (lstatSync(path).isSymbolicLink()) symlinkSync(readlinkSync(path), join(to, name));
    else if (name === '@assay-mcp') linkModules(path, join(to, name));
    else if (name !== '.cache') symlinkSync(path, join(to, name));
  }
}

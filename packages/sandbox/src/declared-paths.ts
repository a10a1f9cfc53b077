import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import type { UnsafePath } from './support.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Command } from './rights.ts';
import { findCommand, readStart } from '@assay-mcp/kit/platform/machine';
import type { Shown } from './confined-view.ts';
import { SEARCHED } from './enforcement.ts';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { findProgramFiles } from './program-files.ts';
import { walkPath } from './walk-path.ts';

/** What an entry declares, with all links resolved. What did not exist then is left out. */
export interface DeclaredPaths {
  /** Its data: `roots`, `cwd` if it is set, and the folders in `args`. */
  readonly roots: readonly Shown[];
  /** The files of its program. */
  readonly readable: readonly Shown[];
}

/** Returns the paths that an entry declared when it was first read. */
export type RecallDeclared = (command: Command) => Promise<Result<DeclaredPaths, UnsafePath>>;

/** Resolves what an entry declares, as it is now. */
export async function resolveDeclared(given: Command): Promise<DeclaredPaths> {
  const { command, args, cwd, isCwdGiven = false, roots = [] } = given;
  const path = getSearchPath(given);
  const home = await realpath(homedir()).catch(() => homedir());
  const program = await findProgramFiles({ command, args, cwd, home, path });
  const interpreter = await interpreterOf(command, { cwd, path });
  const own =
    interpreter === undefined
      ? []
      : (await findProgramFiles({ command: interpreter, args: [], cwd, home, path })).readable;
  const isNarrow = cwd !== '/' && !isInside(home, cwd);
  const declared = [...program.folders, ...roots, ...(isCwdGiven ? [cwd] : [])];
  const readable = [...program.readable, ...own, ...(isCwdGiven || !isNarrow ? [] : [cwd])];
  return {
    roots: await resolveShownPaths(declared.filter((one) => one !== '/')),
    readable: (await resolveShownPaths(readable)).filter(
      (one) => !isInside(home, one.path) && !isInside(home, one.from),
    ),
  };
}

/**
 * What a process of an entry may see now. The server may have changed its roots since they were resolved, so it must not
 * decide where they are, nor which files belong to its program.
 */
export async function resolveCurrentPaths(
  command: Command,
  recall: RecallDeclared,
): Promise<Result<DeclaredPaths, UnsafePath>> {
  const declared = await recall(command);
  if (!declared.ok) return declared;
  const { roots, readable } = declared.value;
  const moved = await firstMoved(roots);
  if (moved !== undefined) return err({ reason: 'moved', path: moved });
  // An update may move a program, which is then found at its new place, unless the server could have moved it.
  const now = (await resolveDeclared(command)).readable;
  const isOwn = (await Promise.all(now.map((one) => leadsThrough(one.path, roots)))).includes(true);
  const program = isOwn ? await stillThere(readable) : now;
  return ok({ roots: await stillThere(roots), readable: program });
}

/** The PATH in which the command of an entry is searched. */
export function getSearchPath({ env }: Pick<Command, 'env'>): string {
  return env['PATH'] ?? process.env['PATH'] ?? SEARCHED;
}

/** The paths that exist, with all links resolved but a final one, as nothing can be mounted below a link. */
export async function resolveShownPaths(paths: readonly string[]): Promise<readonly Shown[]> {
  const shown = await Promise.all(
    paths.map(async (path): Promise<readonly Shown[]> => {
      const from = await realpath(path).catch(() => undefined);
      if (from === undefined) return [];
      const at = await mountable(resolve(path));
      return at === from
        ? [{ path: from, from }]
        : [
            { path: at, from },
            { path: from, from },
          ];
    }),
  );
  return [...new Map(shown.flat().map((one) => [one.path, one])).values()];
}

async function mountable(path: string): Promise<string> {
  const above = await realpath(dirname(path)).catch(() => dirname(path));
  return resolve(above, path.slice(dirname(path).length).replace(/^\/+/, ''));
}

/** The first real path that has a link in it now. */
async function firstMoved(paths: readonly Shown[]): Promise<string | undefined> {
  for (const { from } of paths) if ((await walkPath(from)).links.length > 0) return from;
  return undefined;
}

async function stillThere(paths: readonly Shown[]): Promise<readonly Shown[]> {
  const there = await Promise.all(
    paths.map(async ({ from }) => {
      const { is, links } = await walkPath(from);
      return is !== 'absent' && links.length === 0;
    }),
  );
  return paths.filter((_, index) => there[index]);
}

/** Whether a path, or a link on it, is inside one of the folders. */
async function leadsThrough(path: string, roots: readonly Shown[]): Promise<boolean> {
  const { real, links } = await walkPath(path);
  return [real, ...links].some((one) => roots.some(({ from }) => isInside(one, from)));
}

const SHEBANG = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/;

/** The program that runs a script, such as `node` for the commands in `node_modules/.bin`. */
async function interpreterOf(
  command: string,
  where: { readonly cwd: string; readonly path: string },
): Promise<string | undefined> {
  const found = await findCommand(command, where);
  if (found.kind !== 'found') return undefined;
  return SHEBANG.exec(await readStart(found.path, 256))?.[1];
}

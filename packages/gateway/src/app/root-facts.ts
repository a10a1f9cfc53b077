import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { locateConfig } from '@assay-mcp/kit/platform/locate-config';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import { type DeclaredPaths, resolveDeclared } from '@assay-mcp/sandbox/declared-paths';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { findProtectedPaths } from '@assay-mcp/sandbox/protected-paths';
import { walkPath } from '@assay-mcp/sandbox/walk-path';
import type { RootFacts } from '../core/check-roots.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { UnsafePath } from '@assay-mcp/sandbox/support';
import type { ServerSpec } from '../core/server-spec.ts';
import { getSourceKind } from '../core/sources/source-kinds.ts';
import type { Command } from '@assay-mcp/sandbox/rights';
import { openDeclared } from './confine.ts';
import { findForeignFiles } from './foreign-files.ts';

export interface RootFactsOptions {
  readonly home: string;
  /** The value of `--config`. */
  readonly config: string | undefined;
  readonly configEnvironment: ConfigEnvironment;
  readonly servers: readonly ServerSpec[];
}

/** What the roots of servers with a sandbox contain and lead to, and the folders of the others. Stores nothing. */
export async function inspectRoots(options: RootFactsOptions): Promise<readonly RootFacts[]> {
  const facts = await Promise.all(
    options.servers.map(async ({ name, transport }) => {
      const command = getSourceKind(transport).command(transport);
      if (command === undefined) return [];
      return [await (command.sandbox === undefined ? openFactsOf : factsOf)(name, command, options)];
    }),
  );
  return facts.flat();
}

/** A server without a sandbox is given its folders as arguments, such as `mcp-server-filesystem /home/ada`. */
async function openFactsOf(
  name: string,
  { args, cwd }: Command,
  { home }: RootFactsOptions,
): Promise<RootFacts> {
  const { real } = await walkPath(home);
  const holdsToken = (await walkPath(join(home, 'admin-token'))).is === 'file';
  for (const arg of holdsToken ? args.filter((one) => one !== '') : []) {
    const given = await walkPath(resolve(cwd, arg));
    if (given.is === 'folder' && isInside(real, given.real)) return { ...factless(name), seesToken: arg };
  }
  return factless(name);
}

function factless(name: string): RootFacts {
  return { name, unsafe: undefined, readOnly: [], exposed: [], ignored: [], ownsHome: false };
}

async function factsOf(
  name: string,
  command: Command,
  { home, config, configEnvironment, servers }: RootFactsOptions,
): Promise<RootFacts> {
  const change = await compareDeclared(home, command);
  const none = factless(name);
  if (!change.ok) return { ...none, unsafe: change.error };
  const { stored, now } = change.value;
  const ignored = now.filter((path) => !stored.includes(path));
  if (command.sandbox !== 'strict') return { ...none, ignored };
  const writable = (await resolvedRoots(stored)).filter((one) => one !== undefined);
  const others = await findForeignFiles({ command, writable, servers, configEnvironment });
  const own = [home, locateConfig({ flag: config, ...configEnvironment }).path];
  const kept = await findProtectedPaths({ own, others, writable });
  const ownsHome = writable.some((root) => isInside(homedir(), root));
  if (!kept.ok) return { ...none, ignored, ownsHome, unsafe: kept.error };
  const { readOnly } = kept.value;
  return { ...none, ignored, ownsHome, readOnly, exposed: await exposedOf(others, { writable, readOnly }) };
}

async function resolvedRoots(paths: readonly string[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(paths.map(async (path) => ((await walkPath(path)).is === 'absent' ? undefined : path)));
}

/** Paths that only a mount on a file protects, or nothing, because they are roots themselves. */
async function exposedOf(
  others: readonly string[],
  { writable, readOnly }: { readonly writable: readonly string[]; readonly readOnly: readonly string[] },
): Promise<readonly string[]> {
  const exposed = await Promise.all(
    others.map(async (path) => {
      const { real, is } = await walkPath(path);
      const isKept = readOnly.some((one) => one !== real && isInside(real, one));
      const isOpen = is === 'file' && writable.some((root) => isInside(real, root)) && !isKept;
      return isOpen || (is === 'folder' && writable.includes(real)) ? [real] : [];
    }),
  );
  return [...new Set(exposed.flat())];
}

/** Real paths of the roots of an entry, and of its program if that is in a root. */
export interface DeclaredChange {
  /** As they were when the entry was first read. */
  readonly stored: readonly string[];
  readonly now: readonly string[];
  /** What would be stored if the change is accepted. */
  readonly paths: DeclaredPaths;
}

/** Compares what an entry declares with what it declared when it was first read. Stores nothing. */
export async function compareDeclared(
  home: string,
  command: Command,
): Promise<Result<DeclaredChange, UnsafePath>> {
  const stored = await (await openDeclared(home)).peek(command);
  if (!stored.ok) return err(stored.error);
  const paths = await resolveDeclared(command);
  const rootsOf = ({ roots }: DeclaredPaths): readonly string[] => [
    ...new Set(roots.map(({ from }) => from)),
  ];
  return ok({ stored: rootsOf(stored.value ?? paths), now: rootsOf(paths), paths });
}

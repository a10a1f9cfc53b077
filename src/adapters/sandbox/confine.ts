import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import process, { execPath } from 'node:process';
import { err, ok, type Result } from '../../core/result.ts';
import type { SandboxGap, SandboxRights } from '../../core/sandbox.ts';
import type { Command } from '../../core/sources/source-kinds.ts';
import type { ChildOptions } from '../../platform/child.ts';
import { findCommand, pathFacts, readStart } from '../../platform/machine.ts';
import {
  CONFIG_FILES,
  type ConfinedFacts,
  confinedHome,
  confinementArgs,
  KERNEL_FILES,
  PROGRAM_FOLDERS,
} from './confined-view.ts';
import { type Enforcement, probeEnforcement, SEARCHED } from './enforcement.ts';
import { isInside } from './layout.ts';
import { canConfineNode, type NodeFacts, underNodePermission } from './node-permission.ts';
import { programFiles } from './program-files.ts';
import { topLevel } from './top-level.ts';
import { GATE_COMMAND, gated } from './gated.ts';
import type { NetworkRules } from './network-gate.ts';
import { type Confined, watched } from './watched.ts';

export interface ConfineOptions extends Pick<NetworkRules, 'namedReaches' | 'resolve'> {
  readonly rights: SandboxRights;
  /** Whether to record denials, which slows the process down. */
  readonly isWatched?: boolean;
}

/** Confines a command. The error says what the machine lacks for that. */
export type Confine = (command: Command, options: ConfineOptions) => Promise<Result<Confined, SandboxGap>>;

/** `hidden`: files and folders of Assay that no server may read. */
export function confineWith(
  hidden: readonly string[],
  { probe = probeEnforcement, preload }: Fallback = {},
): Confine {
  return async (command, { rights, isWatched = false, ...network }) => {
    const enforcement = await probe();
    if (!enforcement.ok) {
      const onNode = rights === 'write_roots' || isWatched ? undefined : { rights, hidden, preload };
      const confined = onNode && (await confinedByNode(command, onNode));
      return confined === undefined ? err(enforcement.error) : ok(confined);
    }
    const isGated = hasGate(rights, command);
    const options = await confined(command, { rights, hidden, isGated, enforcement: enforcement.value });
    if (isWatched) return watched(options, command.cwd);
    return ok(isGated ? gated(options, { ...network, allowed: command.network }) : options);
  };
}

interface Fallback {
  readonly probe?: () => Promise<Result<Enforcement, SandboxGap>>;
  /** Path of the built `confined-server.js`. If absent, nothing replaces a sandbox that cannot start. */
  readonly preload?: string | undefined;
}

/**
 * The command under Node's permission model. Undefined if the operator does not accept that, or the model cannot
 * confine the command.
 */
async function confinedByNode(
  command: Command,
  { rights, hidden, preload }: Pick<Fallback, 'preload'> & Pick<NodeFacts, 'rights' | 'hidden'>,
): Promise<ChildOptions | undefined> {
  const isAccepted = command.sandboxAccepts?.includes('node_permission') === true;
  if (!isAccepted || preload === undefined || !(await canConfineNode(preload))) return undefined;
  const path = command.env['PATH'] ?? process.env['PATH'] ?? SEARCHED;
  const { roots, readable } = await dataOf(command, { home: homedir(), path });
  const secrets = await withRealPaths(hidden);
  return underNodePermission(command, {
    rights,
    reads: [...roots, ...readable],
    hidden: secrets,
    preload,
    path,
  });
}

/** Whether connections go through a gate of Assay. A server that may write has an open network unless it is limited. */
function hasGate(rights: SandboxRights, { network }: Command): boolean {
  return rights === 'read_network' || (rights === 'write_roots' && network !== undefined);
}

interface Means {
  readonly rights: SandboxRights;
  readonly isGated: boolean;
  readonly hidden: readonly string[];
  readonly enforcement: Enforcement;
}

async function confined(
  given: Command,
  { rights, hidden, isGated, enforcement: { bwrap, filter, limitArgs, ...means } }: Means,
): Promise<ChildOptions> {
  const home = homedir();
  const path = given.env['PATH'] ?? process.env['PATH'] ?? SEARCHED;
  const { folders, links } = await topLevel(PROGRAM_FOLDERS);
  const data = await dataOf(given, { home, path });
  const gate = isGated ? GATE_COMMAND : [];
  const ofGate = isGated ? await programFiles({ ...GATE_PROGRAM, home, path }) : undefined;
  const facts: ConfinedFacts = {
    ...means,
    ...data,
    readable: [...new Set([...data.readable, ...(ofGate?.readable ?? [])])],
    rights,
    hasNetwork: rights === 'write_roots' && !isGated,
    realHome: home,
    cwd: given.cwd,
    hidden: await hiddenFacts(hidden),
    systemFolders: folders,
    systemLinks: links,
    configFiles: await existing(CONFIG_FILES),
    kernelFiles: await existing(KERNEL_FILES),
  };
  return {
    command: bwrap,
    args: [
      ...[...limitArgs, ...confinementArgs(facts), '--'],
      ...[...withLimits(rights), ...gate, given.command, ...given.args],
    ],
    cwd: '/',
    env: { PATH: path, HOME: confinedHome(home), ...given.env },
    inherits: 'language',
    input3: filter,
  };
}

const GATE_PROGRAM = { command: execPath, args: [], cwd: '/' };

/**
 * Maximum number of processes and threads in one sandbox; its user namespace has its own count. For root, see
 * `limitArgs`.
 */
const MAX_PROCESSES = 512;
/** Limit for one process of a twin. V8 reserves half a GiB for each thread that runs JavaScript. */
const MAX_DATA_KIB = 8 * 1024 * 1024;

/** Sets the limits. If memory runs out, the kernel kills twins first. */
function withLimits(rights: SandboxRights): readonly string[] {
  const ofTwin = `ulimit -d ${MAX_DATA_KIB}; echo 1000 2>/dev/null >/proc/self/oom_score_adj; `;
  const processes = `ulimit -p ${MAX_PROCESSES} 2>/dev/null || ulimit -u ${MAX_PROCESSES} 2>/dev/null`;
  const script = `ulimit -c 0; ${rights === 'write_roots' ? '' : ofTwin}${processes}; exec "$@"`;
  return ['/bin/sh', '-c', script, 'sh'];
}

/** The data folders that a command line declares, and the files of its program and interpreter. */
async function dataOf(
  { command, args, cwd, isCwdGiven = false, roots = [] }: Command,
  { home, path }: { readonly home: string; readonly path: string },
): Promise<Pick<ConfinedFacts, 'roots' | 'readable'>> {
  const program = await programFiles({ command, args, cwd, home, path });
  const interpreter = await interpreterOf(command, { cwd, path });
  const own =
    interpreter === undefined
      ? []
      : (await programFiles({ command: interpreter, args: [], cwd, home, path })).readable;
  const isNarrow = cwd !== '/' && !isInside(home, cwd);
  const declared = [...program.folders, ...roots, ...(isCwdGiven ? [cwd] : [])];
  const readable = [...program.readable, ...own, ...(isCwdGiven || !isNarrow ? [] : [cwd])];
  return {
    roots: await withRealPaths(declared.filter((one) => one !== '/')),
    readable: (await withRealPaths(readable)).filter((one) => !isInside(home, one)),
  };
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

/** The paths that exist, each with its real path. */
async function withRealPaths(paths: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(
    paths.map(async (path) => {
      const to = await realpath(path).catch(() => undefined);
      return to === undefined ? [] : [await mountable(resolve(path)), to];
    }),
  );
  return [...new Set(real.flat())];
}

/** The path with all links but a final one resolved: nothing can be mounted below a link. */
async function mountable(path: string): Promise<string> {
  const above = await realpath(dirname(path)).catch(() => dirname(path));
  return resolve(above, path.slice(dirname(path).length).replace(/^\/+/, ''));
}

async function hiddenFacts(paths: readonly string[]): Promise<ConfinedFacts['hidden']> {
  const facts = await Promise.all(
    (await withRealPaths(paths)).map(async (path) => {
      const found = await pathFacts(path);
      return found === undefined ? [] : [{ path, isFolder: found.is === 'folder' }];
    }),
  );
  return facts.flat();
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => ((await pathFacts(path)) === undefined ? [] : [path])),
  );
  return found.flat();
}

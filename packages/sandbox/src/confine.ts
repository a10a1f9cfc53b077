import { toBareHost } from '@assay-mcp/kit/bare-host';
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { arch, execPath } from 'node:process';
import { ANY_HOST } from './network-rules.ts';
import { CHOSEN_BY_OPERATOR } from '@assay-mcp/kit/reach';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { SandboxGap, UnsafePath } from './support.ts';
import type { Confinement, SandboxRights } from './rights.ts';
import type { Command } from './rights.ts';
import type { ChildOptions } from '@assay-mcp/kit/platform/child';
import { inspectPath } from '@assay-mcp/kit/platform/machine';
import { resolveInterpreter } from '@assay-mcp/kit/platform/real-interpreter';
import {
  CONFIG_FILES,
  type ConfinedFacts,
  chooseConfinedHome,
  buildConfinementArgs,
  KERNEL_FILES,
  PROGRAM_FOLDERS,
} from './confined-view.ts';
import {
  resolveCurrentPaths,
  type DeclaredPaths,
  type RecallDeclared,
  resolveDeclared,
  getSearchPath,
  resolveShownPaths,
} from './declared-paths.ts';
import { DiscardedChanges, findMountsBelow } from './discarded-changes.ts';
import { currentUser, type Enforcement, probeEnforcement } from './enforcement.ts';
import { type NetworkRules, NetworkGate } from './network-gate.ts';
import { canConfineNode, type NodeFacts, wrapWithNodePermission } from './node-permission.ts';
import { findProgramFiles } from './program-files.ts';
import { type Protected, findProtectedPaths } from './protected-paths.ts';
import { buildConfinementFilter } from './seccomp-filters.ts';
import { inspectTopLevel } from './top-level.ts';
import { type Confined, wrapWithStrace } from './watched.ts';

export interface ConfineOptions extends Pick<NetworkRules, 'namedReaches' | 'resolve'> {
  readonly rights: SandboxRights;
  /** Whether to record denials, which slows the process down. */
  readonly isWatched?: boolean;
  /**
   * Whether a twin may write into its roots, but without effect: what it changes is discarded with it. The error is
   * `overlay` if this machine cannot do that.
   */
  readonly discards?: boolean;
  /** Maximum data that each process of a twin may have in memory. Defaults to 8 GiB. */
  readonly dataMiB?: number;
}

/** Confines a command. The error says what the machine lacks for that, or which path cannot be protected. */
export type Confine = (
  command: Command,
  options: ConfineOptions,
) => Promise<Result<Confined, SandboxGap | UnsafePath>>;

/** `hidden`: files and folders of Assay that no server may read. */
export function confineWith(hidden: readonly string[], context: ConfineContext = {}): Confine {
  const { probe = probeEnforcement, preload, recall = resolvedNow, others = nothing } = context;
  const { otherRoots = nothing } = context;
  return async (given, { rights, isWatched = false, discards, dataMiB = MAX_DATA_MIB, ...network }) => {
    const command = await withRealInterpreter(given);
    const { confinement } = command;
    const paths = confinement
      ? ok(await ownPaths(command, confinement))
      : await resolveCurrentPaths(command, () => recall(given));
    if (!paths.ok) return paths;
    // Where its own files are in a root, the stored ones are shown, which lack what a shim starts.
    const ofShim = command === given ? [] : (await resolveDeclared({ ...command, args: [] })).readable;
    const enforcement = await probe();
    if (!enforcement.ok) {
      const isTwin = rights !== 'write_roots' && !isWatched;
      const onNode = isTwin ? { rights, hidden, preload, paths: paths.value } : undefined;
      const confined = onNode && (await confinedByNode(command, onNode));
      return confined === undefined ? err(enforcement.error) : ok(confined);
    }
    const isGated = hasGate(rights, command);
    const writable = rights === 'write_roots' ? paths.value.roots.map(({ from }) => from) : [];
    const foreign = writable.length === 0 ? [] : await others(command, writable);
    const kept = await findProtectedPaths({
      ...{ own: [...hidden, ...(confinement?.hidden ?? [])], others: foreign, writable },
      otherRoots: writable.length === 0 ? [] : await otherRoots(),
    });
    if (!kept.ok) return kept;
    const { overlay } = enforcement.value;
    if (discards === true && overlay === undefined) return err('overlay');
    const unseen = kept.value.hidden.map(({ path }) => path);
    const discarded =
      discards === true && overlay
        ? await DiscardedChanges.open(paths.value.roots, overlay, unseen)
        : undefined;
    const means = {
      discarded,
      rights,
      isGated,
      dataMiB,
      enforcement: enforcement.value,
      paths: { ...paths.value, readable: [...paths.value.readable, ...ofShim] },
      kept: kept.value,
    };
    const options = await confined(command, means);
    const watched = isWatched ? await wrapWithStrace(options, command.cwd) : ok(options);
    if (!watched.ok) return watched;
    const started = discarded?.wrap(watched.value) ?? watched.value;
    const wrapped = { ...watched.value, ...started, ...(discarded && { discarded }) };
    if (isWatched) return ok(wrapped);
    const rules = confinement ? { ...network, namedReaches: CHOSEN_BY_OPERATOR } : network;
    return ok(isGated ? wrapWithGate(wrapped, { ...rules, allowed: command.network }) : wrapped);
  };
}

/** A shim of pyenv or asdf reads the home folder, which a sandbox hides, so the Python that it would start is started. */
async function withRealInterpreter(command: Command): Promise<Command> {
  // A server that may change its folder must not choose a program there.
  const cwd = command.sandbox === 'strict' ? '/' : command.cwd;
  const program = await resolveInterpreter(command.command, { cwd, path: getSearchPath(command) });
  return program === command.command ? command : { ...command, command: program };
}

const nothing = (): Promise<readonly string[]> => Promise.resolve([]);
const resolvedNow: RecallDeclared = async (command) => ok(await resolveDeclared(command));

/** Assay's own code names its roots itself; of its command line, only the program counts. */
async function ownPaths(command: Command, { reads }: Confinement): Promise<DeclaredPaths> {
  const { readable } = await resolveDeclared({ ...command, args: command.args.slice(0, 1), cwd: '/' });
  return { roots: reads.map((path) => ({ path, from: path })), readable };
}

export interface ConfineContext {
  /** Returns the paths that an entry declared when it was first read. By default they are resolved at each start. */
  readonly recall?: RecallDeclared;
  /** Files and folders that others than this entry run or read, to be protected in the folders that it may change. */
  readonly others?: (command: Command, writable: readonly string[]) => Promise<readonly string[]>;
  /** Real paths of folders that other entries may change, or have. */
  readonly otherRoots?: () => Promise<readonly string[]>;
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
  { rights, hidden, preload, paths }: NodeMeans,
): Promise<ChildOptions | undefined> {
  const isAccepted = command.sandboxAccepts?.includes('node_permission') === true;
  if (!isAccepted || preload === undefined || !(await canConfineNode(preload))) return undefined;
  const shown = [...paths.roots, ...paths.readable].flatMap((one) => [one.path, one.from]);
  const secrets = (await resolveShownPaths(hidden)).map((one) => one.path);
  const path = getSearchPath(command);
  return wrapWithNodePermission(command, {
    ...{ rights, preload, path },
    reads: [...new Set(shown)],
    hidden: secrets,
  });
}

type NodeMeans = Pick<NodeFacts, 'rights' | 'hidden'> &
  Pick<ConfineContext, 'preload'> & { readonly paths: DeclaredPaths };

/**
 * Whether connections go through a gate of Assay. Without one, a server that may write would reach Assay's own endpoint,
 * and through that all other servers, unless clients need tokens.
 */
function hasGate(rights: SandboxRights, { network }: Command): boolean {
  return rights === 'read_network' || (rights === 'write_roots' && network?.includes(ANY_HOST) !== true);
}

interface Means {
  readonly rights: SandboxRights;
  readonly isGated: boolean;
  readonly dataMiB: number;
  readonly enforcement: Enforcement;
  readonly discarded: DiscardedChanges | undefined;
  readonly paths: DeclaredPaths;
  readonly kept: Protected;
}

async function confined(
  given: Command,
  { rights, isGated, dataMiB, paths, kept, discarded, enforcement }: Means,
): Promise<ChildOptions> {
  const { bwrap, filter, outerArgs, ...means } = enforcement;
  const home = homedir();
  const path = getSearchPath(given);
  const own = discarded === undefined ? [] : [{ path: discarded.folder, isFolder: true }];
  const mounts = await findMountsBelow([...(discarded?.mounts.keys() ?? [])]);
  const { folders, links } = await inspectTopLevel(PROGRAM_FOLDERS);
  const gate = isGated ? GATE_COMMAND : [];
  const ofGate = isGated ? await findProgramFiles({ ...GATE_PROGRAM, home, path }) : undefined;
  const facts: ConfinedFacts = {
    ...means,
    roots: paths.roots,
    readable: [...paths.readable, ...(await resolveShownPaths(ofGate?.readable ?? []))],
    overlays: discarded?.mounts,
    user: discarded && currentUser(),
    readOnly: [...kept.readOnly, ...mounts],
    hidden: [...kept.hidden, ...own],
    pinned: kept.pinned,
    ownFolder: given.confinement?.writes,
    links: given.confinement?.links,
    // Looking for pipes takes as long as the roots are large, and Assay's own code writes into none.
    pipes:
      rights === 'write_roots' || given.confinement
        ? []
        : await findNamedPipes(paths.roots.map(({ from }) => from)),
    rights,
    hasNetwork: rights === 'write_roots' && !isGated,
    realHome: home,
    cwd: given.cwd,
    systemFolders: folders,
    systemLinks: links,
    configFiles: await existing(CONFIG_FILES),
    kernelFiles: await existing(KERNEL_FILES),
  };
  return {
    command: bwrap,
    args: [
      ...[...outerArgs, ...buildConfinementArgs(facts), '--'],
      ...[...withLimits(rights, dataMiB), ...gate, given.command, ...given.args],
    ],
    cwd: '/',
    env: { PATH: path, HOME: chooseConfinedHome(home), ...given.env },
    inherits: 'language',
    // Assay reads the folder that its own code may change also without a sandbox, and must not follow a link there.
    input3: (given.confinement && buildConfinementFilter(arch, { canLink: false })) ?? filter,
  };
}

const GATE_PROGRAM = { command: execPath, args: [], cwd: '/' };

/**
 * Maximum number of processes and threads in one sandbox; its user namespace has its own count. For root, see
 * `outerArgs`.
 */
const MAX_PROCESSES = 512;
/** Limit for one process of a twin. V8 reserves half a GiB for each thread that runs JavaScript. */
const MAX_DATA_MIB = 8 * 1024;

/** Sets the limits. If memory runs out, the kernel kills twins first. */
function withLimits(rights: SandboxRights, dataMiB: number): readonly string[] {
  const ofTwin = `ulimit -d ${dataMiB * 1024}; echo 1000 2>/dev/null >/proc/self/oom_score_adj; `;
  const processes = `ulimit -p ${MAX_PROCESSES} 2>/dev/null || ulimit -u ${MAX_PROCESSES} 2>/dev/null`;
  const script = `ulimit -c 0; ${rights === 'write_roots' ? '' : ofTwin}${processes}; exec "$@"`;
  return ['/bin/sh', '-c', script, 'sh'];
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => ((await inspectPath(path)) === undefined ? [] : [path])),
  );
  return found.flat();
}

/**
 * Runs first in the sandbox: listens on its loopback interface, passes that socket to Assay, and is replaced by the
 * server once Assay has closed the channel.
 */
const LISTEN_FIRST = `
const { createServer } = require('node:net');
const listener = createServer();
listener.listen(0, '127.0.0.1', () => {
  const proxy = 'http://127.0.0.1:' + listener.address().port;
  const { NODE_CHANNEL_FD, NODE_CHANNEL_SERIALIZATION_MODE, ...env } = process.env;
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'])
    env[name] = env[name.toLowerCase()] = proxy;
  process.once('disconnect', () =>
    process.execve('/bin/sh', ['sh', '-c', 'exec "$@"', 'sh', ...process.argv.slice(1)], env));
  process.send('listening', listener);
});`;

/** Names of this machine, which resolve to the sandbox itself inside it. */
const OWN_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1'];

/** Precedes a sandboxed command so that its connections go through a gate of Assay. */
const GATE_COMMAND: readonly string[] = [execPath, '--no-warnings', '-e', LISTEN_FIRST, '--'];

/** The same process, with network access through a gate of its own. Its command line must begin with `GATE_COMMAND`. */
function wrapWithGate(options: ChildOptions, rules: NetworkRules): Confined {
  const gate = new NetworkGate(rules);
  const named = rules.allowed?.map((one) => toBareHost(one.replace(/:\d+$/, ''))) ?? [];
  const direct = OWN_NAMES.some((name) => named.includes(name)) ? '' : OWN_NAMES.join(',');
  const env = { NODE_USE_ENV_PROXY: '1', NO_PROXY: direct, no_proxy: direct };
  return {
    ...options,
    env: { ...env, ...options.env },
    onHandle: (handle) => gate.serve(handle),
    refused: () => gate.denials,
    onEnd: () => gate.close(),
  };
}

/** Maximum number of entries to look at. */
const MAX_ENTRIES = 50_000;

/** The named pipes in these folders, upper folders first. Links are not followed. */
export async function findNamedPipes(
  folders: readonly string[],
  maxEntries: number = MAX_ENTRIES,
): Promise<readonly string[]> {
  const pipes: string[] = [];
  const waiting = [...folders];
  let left = maxEntries;
  for (let folder = waiting.shift(); folder !== undefined && left > 0; folder = waiting.shift())
    for await (const entry of entriesOf(folder)) {
      left -= 1;
      if (left < 0) break;
      const path = join(folder, entry.name);
      if (entry.isFIFO()) pipes.push(path);
      else if (entry.isDirectory()) waiting.push(path);
    }
  return pipes;
}

/** None if it is a file, is gone or cannot be read, as then the server cannot see it either. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch {
    // See above.
  }
}

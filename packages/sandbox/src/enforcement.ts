import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { SandboxGap, SandboxLack } from './support.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { Child, type ChildOptions } from '@assay-mcp/kit/platform/child';
import { findCommand } from '@assay-mcp/kit/platform/machine';
import { buildConfinementArgs, type ConfinedFacts, PROGRAM_FOLDERS } from './confined-view.ts';
import { DiscardedChanges, type OverlayMeans } from './discarded-changes.ts';
import { buildConfinementFilter } from './seccomp-filters.ts';
import { inspectTopLevel } from './top-level.ts';

/** How this machine confines a process. */
export interface Enforcement {
  /** Absolute path of bubblewrap. */
  readonly bwrap: string;
  readonly filter: Buffer;
  readonly needsUserNamespace: boolean;
  readonly canLimitSize: boolean;
  /** Options of an outer bubblewrap, which starts the one that confines the process. Empty if that is not possible. */
  readonly outerArgs: readonly string[];
  readonly lacks: readonly SandboxLack[];
  /** How it discards changes of files. Undefined if it cannot. */
  readonly overlay?: OverlayMeans | undefined;
}

/**
 * An outer process namespace ends with Assay. By itself the inner one would not: a server can rewrite the memory of the
 * first process in it, which bubblewrap leaves there, so that it no longer ends with its parent.
 */
const OUTER_ARGS: readonly string[] = [
  ...['--dev-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--new-session', '--die-with-parent'],
];

/**
 * Root is exempt from `ulimit`, so its outer namespace has a limited number of process ids. The kernel assigns ids below
 * 300 only once, so 512 to 812 processes can run.
 */
const MAX_PID = 812;
const LIMIT_ARGS: readonly string[] = [
  ...['/bin/sh', '-c', `echo ${MAX_PID} >/proc/sys/kernel/pid_max && exec "$@"`, 'sh'],
];

/** Before Linux 6.14 there is only one limit for the whole machine, which must not be changed. */
function hasLimitPerNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return major > 6 || (major === 6 && minor >= 14);
}

export const SEARCHED: string = process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';

export interface MachineFacts {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** The PATH to search for programs. */
  readonly path: string;
  /** Such as `6.14.0-29-generic`. */
  readonly kernel: string;
}

/** The user of Assay, whom bubblewrap would otherwise not know where an outer namespace maps that user to root. */
export function currentUser(): ConfinedFacts['user'] {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

let probed: Promise<Result<Enforcement, SandboxGap>> | undefined;

/** Tests once per process of Assay whether this machine can confine a process. */
export function probeEnforcement(): Promise<Result<Enforcement, SandboxGap>> {
  const { platform, arch } = process;
  return (probed ??= tryEnforcement({
    ...{ platform, architecture: arch, path: SEARCHED, kernel: release() },
  }));
}

export async function tryEnforcement({
  platform,
  architecture,
  path,
  kernel,
}: MachineFacts): Promise<Result<Enforcement, SandboxGap>> {
  if (platform !== 'linux') return err('linux');
  const filter = buildConfinementFilter(architecture);
  if (filter === undefined) return err('architecture');
  const found = await findCommand('bwrap', { cwd: '/', path });
  if (found.kind !== 'found') return err('bubblewrap');
  const isRoot = process.getuid?.() === 0;
  for (const needsUserNamespace of isRoot ? [false, true] : [true])
    for (const canLimitSize of [true, false]) {
      const means = { bwrap: found.path, filter, needsUserNamespace, canLimitSize, outerArgs: [], lacks: [] };
      if (!(await works(means))) continue;
      const outer = await withOuter(means, { isRoot, kernel });
      const strace = await findCommand('strace', { cwd: '/', path });
      const overlay = await findOverlay(outer, path);
      const lacks: readonly SandboxLack[] = [
        ...(strace.kind === 'found' ? [] : (['strace'] as const)),
        ...(overlay === undefined ? (['overlay'] as const) : []),
      ];
      return ok({ ...outer, overlay, lacks: [...lacks, ...outer.lacks] });
    }
  return err('namespaces');
}

/** Adds an outer process namespace; for root, with a limited number of processes where that is possible. */
async function withOuter(
  means: Enforcement,
  { isRoot, kernel }: { readonly isRoot: boolean; readonly kernel: string },
): Promise<Enforcement> {
  const rights = means.needsUserNamespace ? ['--unshare-user'] : ['--cap-add', 'ALL'];
  const outer = { ...means, outerArgs: [...OUTER_ARGS, ...rights, '--', means.bwrap] };
  const limited = {
    ...means,
    outerArgs: [...OUTER_ARGS, '--cap-add', 'ALL', '--', ...LIMIT_ARGS, means.bwrap],
  };
  if (isRoot && hasLimitPerNamespace(kernel) && (await works(limited))) return limited;
  const lacks: readonly SandboxLack[] = isRoot ? ['process_limit'] : [];
  if (await works(outer)) return { ...outer, lacks };
  return { ...means, lacks: [...lacks, 'process_end'] };
}

/** Whether a process in such a sandbox can write into a folder that stays as it is. */
async function findOverlay(means: Enforcement, path: string): Promise<OverlayMeans | undefined> {
  const found = await findCommand('unshare', { cwd: '/', path });
  if (found.kind !== 'found') return undefined;
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'assay-probe-'));
  try {
    const overlay = { unshare: found.path, isPrivileged: !means.needsUserNamespace };
    const discarded = await DiscardedChanges.open([{ path: folder, from: folder }], overlay);
    const canWrite = await works(means, { discarded, folder });
    return canWrite && (await readdir(folder)).length === 0 ? overlay : undefined;
  } catch {
    return undefined; // such as no "mkfifo"
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface OverlayTest {
  readonly discarded: DiscardedChanges;
  readonly folder: string;
}

/** Runs a command with the fewest rights, which does nothing or writes into a folder with an overlay. */
async function works(
  { bwrap, filter, outerArgs, ...means }: Enforcement,
  test?: OverlayTest,
): Promise<boolean> {
  const { folders, links } = await inspectTopLevel(PROGRAM_FOLDERS);
  const facts: ConfinedFacts = {
    ...means,
    rights: 'read',
    hasNetwork: false,
    realHome: '/home/user',
    cwd: '/',
    roots: test === undefined ? [] : [{ path: test.folder, from: test.folder }],
    overlays: test?.discarded.mounts,
    user: currentUser(),
    readable: [],
    readOnly: [],
    pinned: [],
    pipes: [],
    hidden: [],
    systemFolders: folders,
    systemLinks: links,
    configFiles: [],
    kernelFiles: ['/proc/sys'],
  };
  const script = test === undefined ? [':'] : ['>"$1/x"', 'sh', test.folder];
  const options: ChildOptions = {
    command: bwrap,
    args: [...outerArgs, ...buildConfinementArgs(facts), '--', '/bin/sh', '-c', ...script],
    cwd: '/',
    env: { PATH: SEARCHED },
    inherits: 'language',
    input3: filter,
  };
  const child = new Child(test?.discarded.wrap(options) ?? options);
  test?.discarded.hold(child);
  const end = await child.ended;
  return end.code === 'PROCESS_EXITED' && end.exitCode === 0;
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Child, type ProcessEnd } from '@assay-mcp/kit/platform/child';
import { findCommand } from '@assay-mcp/kit/platform/machine';
import type { Mechanism, MissingMechanism } from './observation.ts';
import { buildUnshareArgs, type Programs } from './setup-script.ts';

/** What this machine can observe. */
export type Machine =
  | {
      readonly canConfine: true;
      readonly programs: Programs;
      readonly isPrivileged: boolean;
      readonly missing: readonly MissingMechanism[];
    }
  | { readonly canConfine: false; readonly missing: readonly MissingMechanism[] };

const ALL: readonly Mechanism[] = ['overlay', 'syscall_trace', 'no_io_uring', 'empty_network', 'canaries'];
const OF_TRACE: readonly Mechanism[] = ['syscall_trace', 'canaries'];
const INSTALL_BWRAP =
  'Install bubblewrap: "apt-get install bubblewrap", "dnf install bubblewrap" or "apk add bubblewrap".';
const INSTALL_STRACE = 'Install strace: "apt-get install strace", "dnf install strace" or "apk add strace".';
const ALLOW_NAMESPACES =
  'Allow user namespaces: on Ubuntu "sysctl kernel.apparmor_restrict_unprivileged_userns=0"; in Docker "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"; or run as root with CAP_SYS_ADMIN.';
const ALLOW_TRACING = 'Allow ptrace: "sysctl kernel.yama.ptrace_scope=1"; in Docker "--cap-add SYS_PTRACE".';
/** The PATH of a service may lack the folders where bubblewrap is usually installed. */
const SEARCHED = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;

let probed: Promise<Machine> | undefined;

/** Tests once per process what this machine can do. */
export function probeMachine(): Promise<Machine> {
  return (probed ??= probe(process.platform, SEARCHED));
}

/** `path`: the PATH to search for programs. */
export async function probe(platform: NodeJS.Platform, path: string): Promise<Machine> {
  if (platform !== 'linux')
    return without(ALL, unsupported(platform), 'Run Assay on Linux, for example in Docker or WSL 2.');
  const [unshare, bwrap, strace, prlimit] = await Promise.all(
    ['unshare', 'bwrap', 'strace', 'prlimit'].map(async (name) => {
      const found = await findCommand(name, { cwd: '/', path });
      return found.kind === 'found' ? found.path : undefined;
    }),
  );
  if (bwrap === undefined) return without(ALL, 'The program "bwrap" was not found.', INSTALL_BWRAP);
  if (unshare === undefined || prlimit === undefined)
    return without(ALL, 'The programs "unshare" and "prlimit" were not found.', 'Install util-linux.');
  return tryOut({ unshare, bwrap, strace });
}

async function tryOut(programs: Programs): Promise<Machine> {
  const isRoot = process.getuid?.() === 0;
  for (const isPrivileged of isRoot ? [true, false] : [false]) {
    const untraced = { ...programs, strace: undefined };
    if (!(await works(untraced, isPrivileged))) continue;
    const { strace } = programs;
    if (strace === undefined)
      return {
        canConfine: true,
        programs,
        isPrivileged,
        missing: missing(OF_TRACE, 'The program "strace" was not found.', INSTALL_STRACE),
      };
    if (await works(programs, isPrivileged)) return { canConfine: true, programs, isPrivileged, missing: [] };
    const why = 'This system does not let "strace" trace a process, or its strace is older than 5.3.';
    return {
      canConfine: true,
      programs: untraced,
      isPrivileged,
      missing: missing(OF_TRACE, why, ALLOW_TRACING),
    };
  }
  return without(
    ALL,
    'This system allows no sandbox: it needs Linux 5.11 or later, with user namespaces and overlay mounts in them.',
    ALLOW_NAMESPACES,
  );
}

/** Runs a tiny sandbox with the same parts as a real one. */
async function works({ unshare, bwrap, strace }: Programs, isPrivileged: boolean): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-probe-'));
  try {
    for (const name of ['w', 'l']) await mkdir(join(folder, name));
    const script = [
      'set -eu',
      'mount -t tmpfs assay w',
      'mkdir w/u w/w w/m',
      `mount -t overlay -o lowerdir=l,upperdir=w/u,workdir=w/w${isPrivileged ? '' : ',userxattr'} assay w/m`,
      ': >w/m/x',
      `exec ${strace === undefined ? '' : '"$2" -f --seccomp-bpf -o w/trace -e trace=?open,openat '}"$1" ` +
        `--ro-bind / / --proc /proc --dev /dev ${isPrivileged ? '' : '--unshare-user '}--new-session --unshare-pid --unshare-net --unshare-ipc --cap-drop ALL true`,
    ];
    await writeFile(join(folder, 'try.sh'), script.join('\n'));
    const child = new Child({
      command: unshare,
      args: [...buildUnshareArgs(isPrivileged), 'sh', 'try.sh', bwrap, strace ?? ''],
      cwd: folder,
      env: { PATH: SEARCHED },
      inherits: 'language',
    });
    return isSuccess(await child.ended);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function isSuccess(end: ProcessEnd): boolean {
  return end.code === 'PROCESS_EXITED' && end.exitCode === 0;
}

function without(mechanisms: readonly Mechanism[], why: string, install: string): Machine {
  return { canConfine: false, missing: missing(mechanisms, why, install) };
}

function missing(
  mechanisms: readonly Mechanism[],
  why: string,
  install: string,
): readonly MissingMechanism[] {
  return mechanisms.map((mechanism) => ({ mechanism, why, install }));
}

function unsupported(platform: NodeJS.Platform): string {
  const name = platform === 'darwin' ? 'macOS' : platform === 'win32' ? 'Windows' : platform;
  return `Assay cannot observe a server on ${name}: overlays, namespaces and system call traces are those of Linux.`;
}

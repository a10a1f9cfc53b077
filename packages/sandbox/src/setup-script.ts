import type { Area, Layout } from './layout.ts';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { CONTENT_CALLS, KEY_CALLS, TRACED_CALLS } from './traced-events.ts';

/** Programs that build a sandbox, by absolute path. */
export interface Programs {
  readonly unshare: string;
  readonly bwrap: string;
  readonly strace: string | undefined;
}

/**
 * The private folder of a sandbox on the real file system. `w` in it is a tmpfs that only the sandbox's mount namespace has:
 * `w/s/N` holds what changed in area N, `w/m/N` is the area with its changes, `w/v/N` is view N, and `w/e` the evidence.
 */
export interface ScriptOptions {
  readonly folder: string;
  readonly areas: readonly (Area & { readonly mode: number; readonly uid: number; readonly gid: number })[];
  readonly views: Layout['views'];
  /** True as root; else user namespaces are used, in which only this user's files can be copied. */
  readonly isPrivileged: boolean;
  readonly programs: Programs;
}

export const STATE_BYTES: number = 256 * 1024 * 1024;
export const TRACE_BYTES: number = 64 * 1024 * 1024;
const MAX_FILES = 50_000;
/** Includes threads. Linux exempts root from this limit. */
const MAX_PROCESSES = 1_024;
/** Maximum length of a printed string: an argument or a DNS query. Paths are never cut. */
const STRING_BYTES = 512;

export function buildUnshareArgs(isPrivileged: boolean): readonly string[] {
  return [...(isPrivileged ? [] : ['--user', '--map-root-user']), '--mount', '--propagation', 'private'];
}

/** A shell script that mounts the areas, waits for a line in the FIFO `go`, and becomes the server. */
export function buildSetupScript({ folder, areas, views, isPrivileged, programs }: ScriptOptions): string {
  const overlayOptions = isPrivileged ? 'redirect_dir=on,metacopy=off' : 'userxattr';
  const numbers = areas.map((_, n) => n);
  const folders = [
    ...['e', 'l', 's', 'm', 'f', 'f/none', 'v'],
    ...numbers.flatMap((n) => [`l/${n}`, `s/${n}`, `s/${n}/w`, `m/${n}`]),
    ...views.flatMap((_, n) => [`f/${n}`, `v/${n}`]),
  ];
  const mounts = areas.flatMap((area, n) => [
    `mkdir -m ${area.mode.toString(8)} w/s/${n}/u`,
    ...(isPrivileged ? [`chown ${area.uid}:${area.gid} w/s/${n}/u`] : []),
    `mount --rbind -- ${quoteShellArgument(area.lower)} w/l/${n}`,
    `mount -t overlay -o lowerdir=w/l/${n},upperdir=w/s/${n}/u,workdir=w/s/${n}/w,${overlayOptions} assay w/m/${n}`,
  ]);
  const viewMounts = views.flatMap((path, n) => [
    `mount --rbind -- ${quoteShellArgument(path)} w/f/${n}`,
    // An overlay without changes needs two folders.
    `mount -t overlay -o ro,lowerdir=w/f/${n}:w/f/none assay w/v/${n}`,
  ]);
  const strace =
    programs.strace === undefined
      ? []
      : [
          quoteShellArgument(programs.strace),
          ...STRACE_ARGS,
          '-o',
          'w/e/trace',
          '-e',
          `trace=${[...TRACED_CALLS, ...CONTENT_CALLS].join(',')}`,
          '-e',
          `inject=${KEY_CALLS.join(',')}:error=EPERM`,
        ];
  return [
    'set -eu',
    'mask=$(umask)',
    'umask 077',
    `cd ${quoteShellArgument(folder)}`,
    `mount -t tmpfs -o size=${STATE_BYTES},nr_inodes=${MAX_FILES},mode=700 assay w`,
    `mkdir ${folders.map((name) => `w/${name}`).join(' ')}`,
    `mount -t tmpfs -o size=${TRACE_BYTES},nr_inodes=100,mode=700 assay w/e`,
    ...mounts,
    ...viewMounts,
    'mkfifo go',
    ': >w/e/ready',
    'read -r line <go',
    'ulimit -c 0',
    'umask "$mask"',
    'exec 7>w/e/info 8<args 9<filter',
    `exec prlimit --nproc=${MAX_PROCESSES}: ${quoteShellArgument(programs.bwrap)} ${IN_OWN_NETWORK} ${[...strace, quoteShellArgument(programs.bwrap)].join(' ')} --args 8 -- "$@"`,
    '',
  ].join('\n');
}

/** In a new network namespace, where any user may listen on the ports of DNS and HTTP. */
const IN_OWN_NETWORK =
  '--unshare-net --dev-bind / / --cap-add ALL --die-with-parent -- ' +
  `sh -c 'echo 0 2>/dev/null >/proc/sys/net/ipv4/ip_unprivileged_port_start; exec "$@"' sh`;

/** `-I 3`: signals that end the server do not end its trace. */
export const STRACE_ARGS: readonly string[] = [
  '-f',
  '--seccomp-bpf',
  '-ttt',
  '-y',
  '-q',
  '-s',
  String(STRING_BYTES),
  '-I',
  '3',
];

export interface ConfinementOptions {
  readonly folder: string;
  readonly layout: Layout;
  /** Entries of `/`: system folders, and links such as `/lib` with their targets. */
  readonly systemFolders: readonly string[];
  readonly systemLinks: Readonly<Record<string, string>>;
  /** Files of the private folder that stand in for files of the system, by path. */
  readonly replaced: Readonly<Record<string, string>>;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Options for bubblewrap, passed through `--args` so that other users cannot read them. */
export function buildBwrapArgs(options: ConfinementOptions): readonly string[] {
  const { folder, layout, systemFolders, systemLinks, replaced, user, cwd, env } = options;
  const areas = layout.areas.map(({ path }, n) => ({ path, args: ['--bind', `${folder}/w/m/${n}`, path] }));
  const areaPaths = new Set(areas.map(({ path }) => path));
  const views = new Map(layout.views.map((path, n) => [path, `${folder}/w/v/${n}`]));
  const readOnly = (path: string): { readonly path: string; readonly args: readonly string[] } => ({
    path,
    args: ['--ro-bind', views.get(path) ?? path, path],
  });
  const mounts = [
    ...systemFolders.filter((path) => !areaPaths.has(path)).map(readOnly),
    ...areas,
    ...layout.readable.map(readOnly),
  ].toSorted((a, b) => a.path.split('/').length - b.path.split('/').length);
  return [
    ...Object.entries(systemLinks).flatMap(([path, target]) => ['--symlink', target, path]),
    ...[
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--ro-bind',
      '/sys',
      '/sys',
      '--perms',
      '0755',
      '--tmpfs',
      '/run',
    ],
    ...mounts.flatMap(({ args }) => args),
    ...Object.entries(replaced).flatMap(([path, from]) =>
      mounts.some((mount) => isInside(path, mount.path)) ? ['--ro-bind', from, path] : [],
    ),
    ...['--remount-ro', '/run', '--remount-ro', '/'],
    ...(user === undefined ? [] : ['--unshare-user', '--uid', String(user.uid), '--gid', String(user.gid)]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--info-fd', '7', '--seccomp', '9'],
    '--clearenv',
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', cwd],
  ];
}

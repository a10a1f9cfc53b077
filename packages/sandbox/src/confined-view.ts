import { posix } from 'node:path';
import type { SandboxRights } from './rights.ts';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

/** A file or folder that a confined process sees. */
export interface Shown {
  /** Where it sees it. */
  readonly path: string;
  /** The real path of what it sees there. */
  readonly from: string;
}

/** What a confined process sees. All paths are absolute and exist. */
export interface ConfinedFacts {
  readonly rights: SandboxRights;
  /** Whether it shares the network of this machine. */
  readonly hasNetwork: boolean;
  readonly realHome: string;
  readonly cwd: string;
  /** Data folders: read-only, or writable with `write_roots`. */
  readonly roots: readonly Shown[];
  /** Roots that it may change without effect: where the overlays over them are mounted, by path. */
  readonly overlays?: ReadonlyMap<string, string> | undefined;
  /** Its user, if it is not the one who starts it. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Files of the program. Always read-only. */
  readonly readable: readonly Shown[];
  /** Parts of writable roots that others run or read, by real path. */
  readonly readOnly: readonly string[];
  /** Files and folders of Assay that no server may read, wherever they are. */
  readonly hidden: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** A folder of Assay that it may change although it is in one that is hidden. */
  readonly ownFolder?: Shown | undefined;
  /** Links by which programs name what is shown, with their targets. */
  readonly links?: Readonly<Record<string, string>> | undefined;
  /** Folders in writable roots that it may change, but not rename or replace. */
  readonly pinned: readonly string[];
  /** Named pipes in read-only roots. A read-only mount does not stop writing into them. */
  readonly pipes: readonly string[];
  /** Top-level folders with programs, and links such as `/lib` with their targets. */
  readonly systemFolders: readonly string[];
  readonly systemLinks: Readonly<Record<string, string>>;
  /** Those of `CONFIG_FILES` that exist. */
  readonly configFiles: readonly string[];
  /** Those of `KERNEL_FILES` that exist. */
  readonly kernelFiles: readonly string[];
  readonly needsUserNamespace: boolean;
  /** Whether bubblewrap can limit the size of a tmpfs (0.7 and later). */
  readonly canLimitSize: boolean;
}

/** Top-level folders with programs and their libraries. Data such as `/srv` and `/var` is hidden unless declared. */
export const PROGRAM_FOLDERS: readonly string[] = [
  ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/usr', '/opt'],
  ...['/nix', '/gnu', '/snap'],
];

/** What programs read in `/etc`, without passwords, keys or settings of services. */
export const CONFIG_FILES: readonly string[] = [
  ...['passwd', 'group', 'nsswitch.conf', 'hosts', 'host.conf', 'gai.conf', 'resolv.conf', 'services'],
  ...['protocols', 'localtime', 'timezone', 'os-release', 'mime.types', 'locale.alias', 'login.defs'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'ssl/certs', 'ssl/openssl.cnf'],
  ...['ca-certificates', 'pki/tls/certs', 'pki/ca-trust', 'crypto-policies', 'fonts', 'python3', 'java'],
].map((name) => `/etc/${name}`);

/** Kernel files that root could write to even without any capability. */
export const KERNEL_FILES: readonly string[] = [
  'sys',
  'sysrq-trigger',
  'irq',
  'bus',
  'fs',
  'acpi',
  'scsi',
].map((name) => `/proc/${name}`);

const TMPFS_BYTES = 256 * 1024 * 1024;
const TEMPORARY_FOLDERS: readonly string[] = ['/tmp', '/var/tmp'];

interface Mount {
  readonly path: string;
  readonly kind: 'empty' | 'shown' | 'overlaid' | 'writable' | 'hidden';
  readonly args: readonly string[];
}

/** The home folder of a confined process, which is empty and private. */
export function chooseConfinedHome(realHome: string): string {
  const isTaken = [...PROGRAM_FOLDERS, '/etc', '/proc', '/sys', '/dev', '/tmp', '/run'].some((path) =>
    isInside(realHome, path),
  );
  return isTaken || realHome === '/' || !posix.isAbsolute(realHome) ? '/home/user' : realHome;
}

/** Options for bubblewrap. The system call filter is read from descriptor 3. */
export function buildConfinementArgs(facts: ConfinedFacts): readonly string[] {
  const { hasNetwork, systemLinks, needsUserNamespace } = facts;
  const mounts = mountsOf(facts);
  return [
    ...Object.entries(systemLinks).flatMap(([path, target]) => ['--symlink', target, path]),
    ...['--proc', '/proc', '--dev', '/dev', '--ro-bind', '/sys', '/sys', '--dir', '/run'],
    ...facts.kernelFiles.flatMap((path) => ['--ro-bind', path, path]),
    ...[...emptyFolder('/dev/shm', facts), '--remount-ro', '/dev'],
    ...mounts.flatMap(({ args }) => args),
    ...['--remount-ro', '/'],
    ...(needsUserNamespace ? ['--unshare-user', ...asUser(facts)] : []),
    ...(hasNetwork ? [] : ['--unshare-net']),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--seccomp', '3'],
    ...['--chdir', isVisible(facts.cwd, mounts) ? facts.cwd : chooseConfinedHome(facts.realHome)],
  ];
}

/** Whether a process sees this folder. Nothing is in a folder that was made empty. */
function isVisible(folder: string, mounts: readonly Mount[]): boolean {
  const around = innermostAt(folder, mounts);
  if (around === undefined || folder === '/') return false;
  return around.path === folder || ['shown', 'overlaid', 'writable'].includes(around.kind);
}

function asUser({ user }: ConfinedFacts): readonly string[] {
  return user === undefined ? [] : ['--uid', String(user.uid), '--gid', String(user.gid)];
}

/** Outer folders before those inside them. Of two at one path, the later covers the earlier. */
function mountsOf(facts: ConfinedFacts): readonly Mount[] {
  const { rights, realHome, roots, readable, readOnly, pinned, hidden, pipes, systemFolders, configFiles } =
    facts;
  const { ownFolder, links = {} } = facts;
  const empty = (path: string): Mount => ({ path, kind: 'empty', args: emptyFolder(path, facts) });
  const shown = ({ path, from }: Shown): Mount => ({ path, kind: 'shown', args: ['--ro-bind', from, path] });
  const same = (path: string): Mount => shown({ path, from: path });
  const open = outerFirst([
    ...[...systemFolders, ...configFiles].map(same),
    ...[...TEMPORARY_FOLDERS, chooseConfinedHome(realHome)].map(empty),
    ...readable.map(shown),
    ...roots.map((one) => (rights === 'write_roots' ? writable(one) : shown(one))),
    ...pinned.map((path) => writable({ path, from: path })),
    ...readOnly.map(same),
    ...Object.entries(links).map(linkTo),
  ])
    .filter((mount, _, all) => !isLinkShownIn(mount, all))
    .map((mount) => withOverlay(mount, facts));
  const unwanted = [...pipes.map((path) => ({ path, isFolder: false })), ...hidden];
  const covers = unwanted.flatMap(({ path, isFolder }) => {
    const innermost = innermostAt(path, open);
    return innermost === undefined || innermost.kind === 'empty' ? [] : [coverOf(path, isFolder, ownFolder)];
  });
  const isCovered = ownFolder !== undefined && covers.some(({ path }) => isInside(ownFolder.path, path));
  const own = ownFolder === undefined || isCovered ? [] : [writable(ownFolder)];
  return [...outerFirst([...open, ...protectAncestors([...open, ...covers])]), ...covers, ...own];
}

/** Where programs see a link anyway, `isLinkShownIn` leaves it out. */
function linkTo([path, target]: readonly [path: string, target: string]): Mount {
  return { path, kind: 'shown', args: ['--symlink', target, path] };
}

/** Folders in it are not protected like those of a writable one: that would make the real ones writable. */
function withOverlay(mount: Mount, { overlays }: ConfinedFacts): Mount {
  const from = mount.kind === 'shown' ? overlays?.get(mount.path) : undefined;
  return from === undefined
    ? mount
    : { path: mount.path, kind: 'overlaid', args: ['--bind', from, mount.path] };
}

function writable({ path, from }: Shown): Mount {
  return { path, kind: 'writable', args: ['--bind', from, path] };
}

/**
 * Whoever may rename a folder decides what a path through it means, whatever is mounted below. A mount point cannot be
 * renamed or removed, so each folder between a writable one and a mount inside it becomes one.
 */
function protectAncestors(mounts: readonly Mount[]): readonly Mount[] {
  const byDepth = outerFirst(mounts);
  const taken = new Set(mounts.map(({ path }) => path));
  const pins = new Map<string, Mount>();
  for (const { path } of mounts)
    for (let at = posix.dirname(path); at !== '/'; at = posix.dirname(at))
      if (!taken.has(at) && innermostAt(at, byDepth)?.kind === 'writable')
        pins.set(at, writable({ path: at, from: at }));
  return [...pins.values()];
}

/** Whether a mount stands for a link that is visible in the folder around it, and so is not needed. */
function isLinkShownIn({ path, kind, args: [, from] }: Mount, mounts: readonly Mount[]): boolean {
  if (kind === 'empty' || from === path) return false;
  const around = innermostAt(posix.dirname(path), mounts);
  return around !== undefined && around.kind !== 'empty';
}

/** The mount at or around a path. `mounts`: outer ones first. */
function innermostAt(path: string, mounts: readonly Mount[]): Mount | undefined {
  return mounts.findLast((mount) => isInside(path, mount.path));
}

function outerFirst(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.toSorted((a, b) => depth(a.path) - depth(b.path));
}

function emptyFolder(path: string, { canLimitSize }: ConfinedFacts): readonly string[] {
  return [...(canLimitSize ? ['--size', String(TMPFS_BYTES)] : []), '--tmpfs', path];
}

/** Makes a folder empty, but for the one that the process may change, and a file unreadable. */
function coverOf(path: string, isFolder: boolean, ownFolder: Shown | undefined): Mount {
  if (!isFolder) return { path, kind: 'hidden', args: ['--ro-bind', '/dev/null', path] };
  const own = ownFolder !== undefined && isInside(ownFolder.path, path) ? writable(ownFolder).args : [];
  return { path, kind: 'hidden', args: ['--tmpfs', path, ...own, '--remount-ro', path] };
}

function depth(path: string): number {
  return path.split('/').length;
}

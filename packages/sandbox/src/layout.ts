import { posix } from 'node:path';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

/** A folder whose changes are kept apart from the real one by an overlay. */
export interface Area {
  /** Its path as the server sees it. */
  readonly path: string;
  /** The real folder with its content, which is never changed. */
  readonly lower: string;
  readonly kind: 'declared' | 'home' | 'temporary' | 'shared_memory' | 'system';
}

export interface Layout {
  readonly home: string;
  readonly cwd: string;
  /** Outer folders before those inside them. */
  readonly areas: readonly Area[];
  /** Visible unchanged, read-only. */
  readonly readable: readonly string[];
  /**
   * Folders among the visible ones that are shown through an overlay although they cannot be changed: the sockets and
   * FIFOs in it are not those to which other programs listen.
   */
  readonly views: readonly string[];
}

export interface LayoutFacts {
  readonly realHome: string;
  readonly cwd: string;
  readonly roots: readonly { readonly path: string; readonly from?: string }[];
  readonly readable: readonly string[];
  /** The folders among them. */
  readonly readableFolders: ReadonlySet<string>;
  /** Existing folders of `SYSTEM_FOLDERS` that are not symbolic links. */
  readonly systemFolders: readonly string[];
  /** Whether changes of system folders can be recorded: an ordinary user cannot copy files of other users. */
  readonly isPrivileged: boolean;
  readonly homeSeed: string;
  readonly temporarySeed: string;
  /** Existing folders of `TEMPORARY_FOLDERS`. */
  readonly temporaryFolders: readonly string[];
}

/** System folders that a program needs. Everything else at the top level, such as `/run` and `/mnt`, is hidden. */
export const SYSTEM_FOLDERS: readonly string[] = [
  ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/usr', '/etc', '/opt', '/var', '/srv'],
  ...['/nix', '/gnu', '/snap'],
];

const RECORDED_SYSTEM_FOLDERS = new Set(['/usr', '/etc', '/opt', '/var', '/srv']);
export const TEMPORARY_FOLDERS: readonly string[] = ['/tmp', '/var/tmp'];
export const SHARED_MEMORY = '/dev/shm';

/** Which folders a server sees, and which of them are overlays. */
export function planLayout(facts: LayoutFacts): Layout {
  const home = homePath(facts.realHome);
  const declared: LayoutFacts['roots'] = [{ path: facts.cwd }, ...facts.roots].filter(
    (root) => !isInside(home, root.path) && !isInside(facts.realHome, root.path) && root.path !== '/',
  );
  const areas: Area[] = [
    ...facts.systemFolders
      .filter((path) => facts.isPrivileged && RECORDED_SYSTEM_FOLDERS.has(path))
      .map((path) => ({ path, lower: path, kind: 'system' as const })),
    { path: home, lower: facts.homeSeed, kind: 'home' },
    ...facts.temporaryFolders.map((path) => ({
      path,
      lower: facts.temporarySeed,
      kind: 'temporary' as const,
    })),
    { path: SHARED_MEMORY, lower: facts.temporarySeed, kind: 'shared_memory' },
    ...declared.map((root) => ({
      path: root.path,
      lower: root.from ?? root.path,
      kind: 'declared' as const,
    })),
  ];
  const unique = [...new Map(areas.map((area) => [area.path, area])).values()];
  const shown = [...facts.systemFolders, ...declared.map(({ path }) => path)];
  const readable = [...new Set(facts.readable)].filter(
    (path) => !isInside(facts.realHome, path) && !shown.some((folder) => isInside(path, folder)),
  );
  const system = facts.systemFolders.filter((path) => RECORDED_SYSTEM_FOLDERS.has(path));
  return {
    home,
    cwd: declared.some(({ path }) => path === facts.cwd) ? facts.cwd : home,
    areas: unique.toSorted((a, b) => depth(a.path) - depth(b.path)),
    readable,
    views: [
      ...(facts.isPrivileged ? [] : system),
      ...readable.filter((path) => facts.readableFolders.has(path)),
    ],
  };
}

/** The real path, so that the server finds what it expects, unless the system needs that folder itself. */
function homePath(realHome: string): string {
  const isOfSystem = [...SYSTEM_FOLDERS, '/proc', '/sys', '/dev', '/tmp', '/run'].some((path) =>
    isInside(realHome, path),
  );
  return isOfSystem || realHome === '/' || !posix.isAbsolute(realHome) ? '/home/user' : realHome;
}

function depth(path: string): number {
  return path.split('/').length;
}

/** The innermost area that holds a path. */
export function findArea(layout: Layout, path: string): Area | undefined {
  return layout.areas.findLast((area) => isInside(path, area.path));
}

/** By the path inside its area, so that a declared folder under `/tmp` does not count as temporary. */
export function toPlace(
  layout: Layout,
  path: string,
): {
  readonly path: string;
  readonly isTemporary: boolean;
  readonly isPrivate: boolean;
} {
  const area = findArea(layout, path);
  const inside = area === undefined ? path : path.slice(area.path.length);
  return {
    path: inside,
    isTemporary: area?.kind === 'temporary',
    isPrivate: area?.kind === 'home' && inside.startsWith('/.cache/'),
  };
}

/** True for folders and empty files that exist only because something else is mounted at or below them. */
export function isMountPoint(layout: Layout, path: string): boolean {
  return [...layout.areas.map((area) => area.path), ...layout.readable].some((mounted) =>
    isInside(mounted, path),
  );
}

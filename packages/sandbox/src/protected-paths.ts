import { lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { UnsafePath } from './support.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { type MountPoint, readMounts } from './mountinfo.ts';
import { walkPath } from './walk-path.ts';

/** What a server may not change although it lies in a folder that it may change. */
export interface Protected {
  /** Files and folders of Assay, which it may not read either. */
  readonly hidden: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** Files and folders that it sees, but only to read. */
  readonly readOnly: readonly string[];
  /** Folders that it may change, but not rename or replace. */
  readonly pinned: readonly string[];
}

export interface ProtectOptions {
  /** Assay's home and config file. */
  readonly own: readonly string[];
  /** Files and folders that other entries and other programs run or read. */
  readonly others: readonly string[];
  /** Folders that other servers may change. */
  readonly otherRoots?: readonly string[];
  /** The folders that the server may change. Real paths. */
  readonly writable: readonly string[];
}

/**
 * Finds what has to be protected within the writable folders of a server. What protects a path protects everything that
 * decides where the path leads: the links on it, and for a file the folder that contains it, since a mount on a file
 * disappears as soon as another program replaces the file. The error says what cannot be protected.
 */
export async function findProtectedPaths({
  own,
  others,
  otherRoots = [],
  writable,
}: ProtectOptions): Promise<Result<Protected, UnsafePath>> {
  const isWritable = (path: string): boolean => writable.some((root) => isInside(path, root));
  const isRoot = (path: string): boolean => writable.includes(path);
  const hidden = new Map<string, boolean>();
  const readOnly = new Set<string>();
  for (const path of await withAliases(own)) {
    const { real, is, links } = await walkPath(path);
    if (is !== 'absent') hidden.set(real, is === 'folder');
    const link = links.find((one) => isRoot(dirname(one)));
    if (link !== undefined) return err({ reason: 'link', path: link });
    const folder = is === 'file' ? dirname(real) : real;
    if (is !== 'folder' && isRoot(folder)) return err({ reason: 'in_root', path });
    const deciding = [...links.map((one) => dirname(one)), ...(is === 'folder' ? [] : [folder])];
    for (const one of deciding) if (isWritable(one)) readOnly.add(one);
    if (writable.length > 0 && (await hasSecondName(real, is)))
      return err({ reason: 'hard_link', path: real });
  }
  for (const path of others) {
    const { real, is, links } = await walkPath(path);
    const deciding = [...links.map((link) => dirname(link)), ...(is === 'absent' ? [] : [real])];
    for (const one of deciding) if (isWritable(one) && !isRoot(one)) readOnly.add(one);
  }
  const pinned: string[] = [];
  for (const path of otherRoots) {
    const { real, is, links } = await walkPath(path);
    const isFolder = is === 'folder' && links.length === 0;
    if (isFolder && isWritable(real) && !isRoot(real)) pinned.push(real);
  }
  // A hidden folder protects everything in it.
  const isHidden = (path: string): boolean =>
    [...hidden].some(([folder, isFolder]) => isFolder && folder !== path && isInside(path, folder));
  const isKept = (path: string): boolean => [...readOnly].some((folder) => isInside(path, folder));
  return ok({
    hidden: [...hidden].flatMap(([path, isFolder]) => (isHidden(path) ? [] : [{ path, isFolder }])),
    readOnly: [...readOnly].filter((path) => !hidden.has(path) && !isHidden(path)),
    pinned: pinned.filter((path) => !hidden.has(path) && !isHidden(path) && !isKept(path)),
  });
}

/** Whether a file, or a file in a folder, also has a name elsewhere, which no mount protects. */
async function hasSecondName(path: string, is: 'folder' | 'file' | 'absent'): Promise<boolean> {
  if (is === 'absent') return false;
  const names = is === 'file' ? [path] : (await readdir(path)).map((name) => join(path, name));
  const found = await Promise.all(names.map((name) => lstat(name, { bigint: true }).catch(() => undefined)));
  const files = found.filter((one) => one?.isFile() === true);
  // While Assay creates a file, it has two names in its folder.
  const namesOf = (inode: bigint): number => files.filter((one) => one?.ino === inode).length;
  return files.some((one) => one !== undefined && one.nlink > BigInt(namesOf(one.ino)));
}

/** The paths, and those at which the same files are visible because a part of their file system is mounted twice. */
async function withAliases(paths: readonly string[]): Promise<readonly string[]> {
  const mounts = await readMounts();
  const aliases: string[] = [];
  for (const path of paths) {
    const { real, is } = await walkPath(path);
    for (const alias of findAliases(real, mounts))
      if (is === 'absent' || (await isSame(alias, real))) aliases.push(alias);
  }
  return [...new Set([...paths, ...aliases])];
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** Where else a real path may be visible. */
export function findAliases(path: string, mounts: readonly MountPoint[]): readonly string[] {
  const own = mounts
    .filter((mount) => isInside(path, mount.path))
    .toSorted((a, b) => a.path.length - b.path.length)
    .at(-1);
  if (own === undefined) return [];
  const inside = join(own.root, path.slice(own.path === '/' ? 0 : own.path.length));
  return mounts
    .filter(({ device, root }) => device === own.device && isInside(inside, root))
    .map((mount) => join(mount.path, inside.slice(mount.root === '/' ? 0 : mount.root.length)))
    .filter((alias) => alias !== path);
}

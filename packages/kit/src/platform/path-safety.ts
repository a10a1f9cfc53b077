import { readFileSync, realpathSync, statSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import { quoteShellArgument } from '../shell-argument.ts';

/** Why other users could change the file or folder at a path, and the command that fixes it. */
export interface PathFault {
  /** The file or folder at fault: the path itself or an ancestor. */
  readonly at: string;
  /** A predicate whose subject is `at`. */
  readonly reason: string;
  readonly command: string;
}

/** The permissions of one file or folder. */
export interface Rights {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** The user for whom permissions are checked. */
export interface Owner {
  readonly uid: number;
  /** Whether a group has no members but this user. */
  readonly isPrivateGroup: (gid: number) => boolean;
}

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const GROUP_AND_OTHERS = 0o077;
const STICKY = 0o1000;

/**
 * The first fault of a path and its ancestors, checked like sshd's trusted files (StrictModes): each must belong to the
 * user or to root, and only its owner may write to it. There are three exceptions: an ancestor may be world-writable if
 * it is sticky, like /tmp, because others can neither rename nor remove files there that are not theirs; a group of the
 * user alone may write, as with Debian's patch; and root may use another user's files, as in a container.
 */
export function findPathFault(
  chain: readonly Rights[],
  { uid, isPrivateGroup }: Owner,
): PathFault | undefined {
  for (const [height, { path: at, mode, uid: owner, gid }] of chain.entries()) {
    if (owner !== uid && owner !== 0 && uid !== 0)
      return {
        at,
        reason: `belongs to another user (uid ${owner})`,
        command: `sudo chown ${uid} ${quoteShellArgument(at)}`,
      };
    if (height > 0 && (mode & STICKY) !== 0) continue;
    const octal = (mode & 0o7777).toString(8);
    if ((mode & OTHERS_WRITE) !== 0)
      return {
        at,
        reason: `is writable by every user (mode ${octal})`,
        command: `chmod go-w ${quoteShellArgument(at)}`,
      };
    if ((mode & GROUP_WRITES) !== 0 && !isPrivateGroup(gid))
      return {
        at,
        reason: `is writable by its group (mode ${octal})`,
        command: `chmod g-w ${quoteShellArgument(at)}`,
      };
  }
  return undefined;
}

/** The environment and home folder for path checks; ancestors above the home folder are not checked. */
export interface PathChecks {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** The fault of a path that others could change. Undefined if missing, on Windows, or with ASSAY_FILE_CHECKS=off. */
export function findUnsafePath(
  path: string,
  { env, home }: PathChecks,
): (PathFault & { readonly code: 'PATH_UNSAFE'; readonly path: string }) | undefined {
  if (env['ASSAY_FILE_CHECKS'] === 'off') return undefined;
  const fault = pathFaultOf(path, home);
  return fault && { code: 'PATH_UNSAFE', path, ...fault };
}

/** A file with secrets that other users can access. */
export interface ExposedFile {
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  /** Set if others could also change it. */
  readonly unsafe: ReturnType<typeof findUnsafePath>;
}

/** The given secret files that others can access. None with ASSAY_FILE_CHECKS=off. */
export function findExposedFiles(paths: readonly string[], checks: PathChecks): readonly ExposedFile[] {
  if (process.getuid === undefined || checks.env['ASSAY_FILE_CHECKS'] === 'off') return [];
  return paths.flatMap((path) => {
    const mode = (attempt(() => statSync(path))?.mode ?? 0) & 0o777;
    if ((mode & GROUP_AND_OTHERS) === 0) return [];
    return [{ path, mode, unsafe: findUnsafePath(path, checks) }];
  });
}

/** Removes others' access to a file. Returns false if that fails. */
export async function makePrivate(path: string): Promise<boolean> {
  return chmod(path, 0o600).then(
    () => true,
    () => false,
  );
}

function pathFaultOf(path: string, userHome: string): PathFault | undefined {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  const chain = chainOf(path, attempt(() => realpathSync.native(userHome)) ?? userHome);
  const hasGroups = chain.some(({ mode }) => (mode & GROUP_WRITES) !== 0);
  const [groups = '', users = ''] = hasGroups
    ? ['/etc/group', '/etc/passwd'].map((file) => attempt(() => readFileSync(file, 'utf8')))
    : [];
  return findPathFault(chain, {
    uid,
    isPrivateGroup: (gid) => isPrivateGroup({ gid, uid, groups, users }),
  });
}

function chainOf(path: string, userHome: string): readonly Rights[] {
  const chain: Rights[] = [];
  let at = attempt(() => realpathSync.native(path));
  while (at !== undefined) {
    const folder: string = at;
    const found = attempt(() => statSync(folder));
    if (found === undefined) return chain;
    chain.push({ path: at, mode: found.mode, uid: found.uid, gid: found.gid });
    const above = dirname(at);
    at = at === userHome || above === at ? undefined : above;
  }
  return chain;
}

/** What the system answers. Synchronous: a start asks so often that waiting in between would take milliseconds. */
function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Whether a group's only member is this user, by /etc/group and /etc/passwd. Unknown groups are not private. */
export function isPrivateGroup({
  gid,
  uid,
  groups,
  users,
}: {
  readonly gid: number;
  readonly uid: number;
  readonly groups: string;
  readonly users: string;
}): boolean {
  const rows = (text: string): readonly (readonly string[])[] =>
    text.split('\n').flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.split(':')]));
  const group = rows(groups).find(([, , id]) => id === String(gid));
  if (group === undefined) return false;
  const [name] = rows(users).find(([, , id]) => id === String(uid)) ?? [];
  const members = (group[3] ?? '').split(',').filter((member) => member !== '');
  const primary = rows(users).filter(([, , , id]) => id === String(gid));
  return members.every((member) => member === name) && primary.every(([, , id]) => id === String(uid));
}

import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';

/** Why somebody else could change what is at a path, and the command that mends it. */
export interface PathFault {
  /** The file or folder that is at fault: the path itself, or a folder above it. */
  readonly at: string;
  /** The end of a sentence. */
  readonly reason: string;
  readonly command: string;
}

/** What counts of one file or folder. */
export interface Rights {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Whose rights are looked at. */
export interface Owner {
  readonly uid: number;
  /** Whether nobody but this user is in a group. */
  readonly isPrivateGroup: (gid: number) => boolean;
}

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/**
 * The first fault of a path and the folders above it, as sshd checks the files that it trusts (StrictModes): each belongs
 * to the user or to root, and nobody else may write to it. Unlike there, a folder above may be writable for all if it is
 * sticky, as /tmp is: others can neither rename nor remove there what is not theirs. As with Debian's patch, a group of
 * the user alone may write. What root starts from the files of another user it was told to, as in a container.
 */
export function faultOf(chain: readonly Rights[], { uid, isPrivateGroup }: Owner): PathFault | undefined {
  for (const [height, { path: at, mode, uid: owner, gid }] of chain.entries()) {
    if (owner !== uid && owner !== 0 && uid !== 0)
      return {
        at,
        reason: `it belongs to another user (uid ${owner})`,
        command: `sudo chown ${uid} ${quoted(at)}`,
      };
    if (height > 0 && (mode & STICKY) !== 0) continue;
    const octal = (mode & 0o7777).toString(8);
    if ((mode & OTHERS_WRITE) !== 0)
      return {
        at,
        reason: `every user may write to it (mode ${octal})`,
        command: `chmod go-w ${quoted(at)}`,
      };
    if ((mode & GROUP_WRITES) !== 0 && !isPrivateGroup(gid))
      return { at, reason: `its group may write to it (mode ${octal})`, command: `chmod g-w ${quoted(at)}` };
  }
  return undefined;
}

/** The same of what is on the disk, up to the home of the user. Undefined too where nothing is there, and on Windows. */
export async function pathFaultOf(path: string, userHome: string): Promise<PathFault | undefined> {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  const chain = await chainOf(path, await realpath(userHome).catch(() => userHome));
  const hasGroups = chain.some(({ mode }) => (mode & GROUP_WRITES) !== 0);
  const [groups, users] = hasGroups
    ? await Promise.all(['/etc/group', '/etc/passwd'].map((file) => readFile(file, 'utf8').catch(() => '')))
    : ['', ''];
  return faultOf(chain, {
    uid,
    isPrivateGroup: (gid) => isPrivateGroup({ gid, uid, groups: groups ?? '', users: users ?? '' }),
  });
}

async function chainOf(path: string, userHome: string): Promise<readonly Rights[]> {
  const chain: Rights[] = [];
  let at = await realpath(path).catch(() => undefined);
  while (at !== undefined) {
    const found = await stat(at).catch(() => undefined);
    if (found === undefined) return chain;
    chain.push({ path: at, mode: found.mode, uid: found.uid, gid: found.gid });
    const above = dirname(at);
    at = at === userHome || above === at ? undefined : above;
  }
  return chain;
}

/** Whether a group has no member but one user, by the texts of /etc/group and /etc/passwd. An unknown group is not private. */
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

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

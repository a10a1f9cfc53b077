import { lstat, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

/** How the kernel resolves a path. All paths are absolute, and free of links except for their last part. */
export interface PathWalk {
  /** Where it leads. If something is missing, the part that exists. */
  readonly real: string;
  readonly is: 'folder' | 'file' | 'absent';
  /** The links on the way, in order. Whoever can replace one of them decides where the path leads. */
  readonly links: readonly string[];
}

/** The kernel's own limit. */
const MAX_LINKS = 40;

/** Resolves a path as the kernel does, and notes each link. */
export async function walkPath(path: string): Promise<PathWalk> {
  const links: string[] = [];
  let real = parse(resolve(path)).root;
  const parts = partsOf(resolve(path));
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === '..') {
      real = dirname(real);
      continue;
    }
    const at = join(real, part);
    const found = await lstat(at).catch(() => undefined);
    if (found === undefined || links.length > MAX_LINKS) return { real, is: 'absent', links };
    if (found.isSymbolicLink()) {
      links.push(at);
      const target = await readlink(at);
      if (isAbsolute(target)) real = parse(target).root;
      parts.unshift(...partsOf(target));
    } else if (found.isDirectory()) real = at;
    else return parts.length === 0 ? { real: at, is: 'file', links } : { real, is: 'absent', links };
  }
  return { real, is: 'folder', links };
}

function partsOf(path: string): string[] {
  const { root } = parse(path);
  return path
    .slice(root.length)
    .split(sep)
    .filter((part) => part !== '' && part !== '.');
}

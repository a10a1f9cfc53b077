import { isAbsolute, relative, sep } from 'node:path';

/**
 * Whether an absolute path is a folder or is below it, with `..` resolved. Links are not: pass real paths where they
 * matter. A relative path is inside nothing.
 */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return isAbsolute(path) && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

import { lstat, readdir, readlink } from 'node:fs/promises';
import { PROGRAM_FOLDERS } from './confined-view.ts';

/** Top-level folders with programs, and links such as `/lib` with their targets. */
export async function topLevel(): Promise<{
  readonly folders: readonly string[];
  readonly links: Readonly<Record<string, string>>;
}> {
  const folders: string[] = [];
  const links: Record<string, string> = {};
  for (const name of await readdir('/')) {
    const path = `/${name}`;
    if (!PROGRAM_FOLDERS.includes(path)) continue;
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) links[path] = await readlink(path);
    else if (stats.isDirectory()) folders.push(path);
  }
  return { folders, links };
}

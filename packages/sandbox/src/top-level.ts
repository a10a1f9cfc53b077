import { lstat, readdir, readlink } from 'node:fs/promises';

/** Which of these folders at the top level exist; of those that are links, such as `/lib`, the targets. */
export async function inspectTopLevel(paths: readonly string[]): Promise<{
  readonly folders: readonly string[];
  readonly links: Readonly<Record<string, string>>;
}> {
  const folders: string[] = [];
  const links: Record<string, string> = {};
  for (const name of await readdir('/')) {
    const path = `/${name}`;
    if (!paths.includes(path)) continue;
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) links[path] = await readlink(path);
    else if (stats.isDirectory()) folders.push(path);
  }
  return { folders, links };
}

import { existsSync } from 'node:fs';
import { glob, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Documented, stripped } from './documented.ts';
import { fetched } from './fetch.ts';
import type { Package, RepositorySet } from './repositories.ts';

/** A set of packages as one repository without documentation, and what the documentation said. */
export interface Corpus {
  readonly root: string;
  /** By path. */
  readonly documented: ReadonlyMap<string, readonly Documented[]>;
}

/** Larger files are data, and indexers skip them. */
const MAX_BYTES = 512 * 1024;

export async function corpusOf(set: RepositorySet, cache: string): Promise<Corpus> {
  const root = join(cache, 'stripped', set.name);
  const list = `${root}.json`;
  if (!existsSync(list)) {
    await rm(root, { recursive: true, force: true });
    const documented: [string, readonly Documented[]][] = [];
    for (const source of set.packages) documented.push(...(await stripPackage(source, root, cache)));
    await writeFile(list, JSON.stringify(documented));
  }
  return { root, documented: new Map(JSON.parse(await readFile(list, 'utf8')) as [string, Documented[]][]) };
}

async function stripPackage(
  source: Package,
  root: string,
  cache: string,
): Promise<readonly [string, readonly Documented[]][]> {
  const found: [string, readonly Documented[]][] = [];
  const unpacked = await fetched(source, cache);
  for (const folder of source.folders)
    for await (const path of glob(`**/*.${source.extension}`, { cwd: join(unpacked, folder) })) {
      if (
        source.without?.test(path) === true ||
        path.endsWith(`.min.${source.extension}`) ||
        path.endsWith('.d.ts')
      )
        continue;
      const stats = await lstat(join(unpacked, folder, path));
      if (!stats.isFile() || stats.size > MAX_BYTES) continue;
      const text = await readFile(join(unpacked, folder, path), 'utf8');
      const { text: bare, documented } = stripped(text, source.extension);
      const name = `${source.name}/${path}`;
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), bare);
      if (documented.length > 0) found.push([name, documented]);
    }
  return found;
}

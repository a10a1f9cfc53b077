import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Package } from './repositories.ts';

const run = promisify(execFile);

/** Unpacks a package into the cache and returns its folder. Needs the network the first time only. */
export async function fetched(source: Package, cache: string): Promise<string> {
  const { from, name, version } = source;
  const folder = join(cache, 'packages', `${name.replace('/', '+')}@${version.replaceAll(/[:/]/g, '_')}`);
  if (!existsSync(folder)) {
    const download = `${folder}.download`;
    await rm(download, { recursive: true, force: true });
    await mkdir(download, { recursive: true });
    const unpacked = await UNPACK[from](source, download);
    await rename(unpacked, folder);
    await rm(download, { recursive: true, force: true });
  }
  return folder;
}

const UNPACK: Readonly<Record<Package['from'], (source: Package, folder: string) => Promise<string>>> = {
  npm,
  debian,
  git: checkOut,
};

/** Without the history. */
async function checkOut({ name, version }: Package, folder: string): Promise<string> {
  const git = (...args: readonly string[]): Promise<unknown> => run('git', args, { cwd: folder });
  await git('init', '--quiet');
  await git('fetch', '--quiet', '--depth', '1', `https://github.com/${name}`, version);
  await git('checkout', '--quiet', 'FETCH_HEAD');
  return folder;
}

async function npm({ name, version }: Package, folder: string): Promise<string> {
  await run('npm', ['pack', '--silent', `${name}@${version}`], { cwd: folder });
  await run('tar', ['-xzf', await archiveIn(folder, '.tgz'), '--no-same-owner'], { cwd: folder });
  return join(folder, 'package');
}

/** Debian's mirrors keep one version per release. A later one changes the figures a little, so its name is reported. */
async function debian({ name, version }: Package, folder: string): Promise<string> {
  try {
    await run('apt-get', ['download', `${name}=${version}`], { cwd: folder });
  } catch {
    await run('apt-get', ['download', name], { cwd: folder });
    process.stderr.write(`${name} ${version} is gone; took ${await archiveIn(folder, '.deb')}\n`);
  }
  const unpacked = join(folder, 'unpacked');
  await run('dpkg', ['-x', await archiveIn(folder, '.deb'), unpacked], { cwd: folder });
  return unpacked;
}

async function archiveIn(folder: string, ending: string): Promise<string> {
  const name = (await readdir(folder)).find((file) => file.endsWith(ending));
  if (name === undefined) throw new Error(`${folder} has no ${ending} file`);
  return name;
}

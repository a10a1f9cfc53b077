import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { readBytesWithin } from '@assay-mcp/kit/platform/bounded-file';

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** SHA-256 over the files that a server's command names, each with the `package.json` of its package. */
export async function hashPackage(command: readonly string[], cwd: string, path: string): Promise<string> {
  const [program = '', ...args] = command;
  const files: string[] = [];
  const executable = await located(program, cwd, path);
  for (const candidate of [executable, ...args.map((arg) => resolve(cwd, arg))]) {
    const real = candidate === undefined ? undefined : await realFile(candidate);
    if (real !== undefined) files.push(real);
  }
  const hash = createHash('sha256');
  for (const file of files) {
    const root = await packageRoot(file);
    for (const read of root === undefined ? [file] : [file, join(root, 'package.json')]) {
      const content = await readBytesWithin(read, MAX_FILE_BYTES);
      hash.update(basename(read)).update('\0');
      if (content.ok) hash.update(content.value.bytes);
    }
  }
  return hash.digest('hex');
}

async function located(program: string, cwd: string, path: string): Promise<string | undefined> {
  if (program.includes('/')) return resolve(cwd, program);
  for (const folder of path.split(delimiter).filter(isAbsolute))
    if ((await realFile(join(folder, program))) !== undefined) return join(folder, program);
  return undefined;
}

async function realFile(path: string): Promise<string | undefined> {
  try {
    const facts = await stat(path);
    return facts.isFile() && facts.size <= MAX_FILE_BYTES ? await realpath(path) : undefined;
  } catch {
    return undefined;
  }
}

/** The nearest folder with a `package.json`. */
async function packageRoot(file: string): Promise<string | undefined> {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if ((await realFile(join(folder, 'package.json'))) !== undefined) return folder;
  return undefined;
}

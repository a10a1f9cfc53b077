import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isThere } from '@assay-mcp/kit/platform/files';
import { hashInstallation, type Installation } from '@assay-mcp/kit/platform/hash-installation';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { findPackageName, type PackageStart } from '../../core/hints/started-package.ts';

/**
 * Reads the installed files that a command starts. Undefined if they are not in a folder as npm installs them, or if
 * npx may take others, if its version was not studied, after ten seconds, or once the signal aborts.
 */
export async function findInstallation(
  start: PackageStart,
  cwd: string,
  { isStudied, signal }: { readonly isStudied: (version: string) => boolean; readonly signal: AbortSignal },
): Promise<Installation | undefined> {
  if (start.loadsMore === true) return undefined;
  const folder = await findFolder(start, cwd).catch(() => undefined);
  if (folder === undefined) return undefined;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  // A file of a disk that does not answer is not waited for.
  return waitAtMost(hashInstallation(folder, { isWanted: isStudied, signal: limited }), LIMIT_MS);
}

/** Views of single tools wait for it. */
const LIMIT_MS = 10_000;

async function findFolder(start: PackageStart, cwd: string): Promise<string | undefined> {
  if (start.kind === 'script') {
    // A linked package leads out of node_modules: it is the operator's own.
    const real = await realpath(resolve(cwd, start.path));
    if (findPackageName(real) !== start.name) return undefined;
    const marker = join('node_modules', start.name);
    return real.slice(0, real.lastIndexOf(marker) + marker.length);
  }
  const { name, version } = start;
  if (version === undefined) return undefined;
  // npx prefers what a folder above has installed.
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (isThere(join(folder, 'node_modules', name))) return undefined;
    if (folder === dirname(folder)) break;
  }
  const modules = join(homedir(), '.npm', '_npx', hashSpecifier(`${name}@${version}`), 'node_modules');
  const folder = join(modules, name);
  return (await realpath(folder)) === join(await realpath(modules), name) ? folder : undefined;
}

/** The name of npx's folder for one package (libnpmexec). If npm changes it, no folder is found and nothing is claimed. */
function hashSpecifier(specifier: string): string {
  return createHash('sha512').update(specifier).digest('hex').slice(0, NPX_DIGITS);
}

const NPX_DIGITS = 16;

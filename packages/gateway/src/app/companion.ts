import { realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isShortLived } from '../adapters/config/client-configs/own-entry.ts';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import type * as Codebase from '../../../codebase/src/program.ts';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { parseObject } from '@assay-mcp/kit/json-object';
import type { CompanionName, PackageRefusal } from '../core/refusals/config-refusals.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import type { VerifierProgram } from '@assay-mcp/kit/verification/verifier';
import { VERSION } from '@assay-mcp/kit/version';
import { isThere, readTextNow } from '@assay-mcp/kit/platform/files';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { findUnsafePath } from '@assay-mcp/kit/platform/path-safety';

/** Packages that Assay uses if they are installed. */
const COMPANIONS: readonly CompanionName[] = ['assay-verify', 'assay-codebase'];

/** The module that such a package provides for Assay. */
const PROGRAM = join('dist', 'program.js');

/**
 * The module of a package that is installed beside Assay or, after a fetch, in its home. Only exactly Assay's own
 * version is used. `from`: a folder of Assay. PACKAGE_MISSING, PACKAGE_INCOMPATIBLE, PATH_UNSAFE
 */
export function findCompanion(
  name: CompanionName,
  environment: ConfigEnvironment,
  from: string = import.meta.dirname,
): Result<URL, PackageRefusal> {
  const fetched = locateFetched(environment);
  const installed = [...listModuleFolders(from), join(fetched, 'node_modules')].flatMap((modules) => {
    const folder = join(modules, name);
    const manifest = readTextNow(join(folder, 'package.json'));
    const program = locateProgram(folder);
    if (!manifest.ok || program === undefined) return [];
    return [{ folder, program, version: String(parseObject(manifest.value)['version']) }];
  });
  const [usable] = installed.filter(({ version }) => version === VERSION);
  const install = getInstallCommand(name, from, fetched);
  if (usable !== undefined) {
    const { program } = usable;
    const unsafe = findUnsafePath(program, environment);
    // Whoever can change a folder that Assay is in can change Assay.
    return unsafe === undefined || isInside(from, unsafe.at) ? ok(pathToFileURL(program)) : err(unsafe);
  }
  const [other] = installed;
  return err(
    other === undefined
      ? { code: 'PACKAGE_MISSING', name, version: VERSION, ...install }
      : {
          code: 'PACKAGE_INCOMPATIBLE',
          ...{ name, version: VERSION, path: other.folder, installed: other.version },
          ...install,
        },
  );
}

/** The real path, so that what is checked is what is loaded. Undefined if it is missing, as before a build. */
function locateProgram(folder: string): string | undefined {
  try {
    return realpathSync.native(join(folder, PROGRAM));
  } catch {
    return undefined;
  }
}

/** Code search, and the script of its own command. Errors: those of `findCompanion`. */
export async function openCodebase(
  environment: ConfigEnvironment,
): Promise<Result<typeof Codebase & { readonly main: string }, PackageRefusal>> {
  const found = findCompanion('assay-codebase', environment);
  if (!found.ok) return found;
  const program = (await import(found.value.href)) as typeof Codebase; // of the same version
  return ok({ ...program, main: fileURLToPath(new URL('main.js', found.value)) });
}

/** The folders of the packages that are installed. */
export function listCompanionFolders(environment: ConfigEnvironment): readonly string[] {
  return COMPANIONS.flatMap((name) => {
    const found = findCompanion(name, environment);
    return found.ok ? [dirname(fileURLToPath(found.value))] : [];
  });
}

/** Loads the verifier of hints. Errors: those of `findCompanion`. */
export async function openVerifier(
  environment: ConfigEnvironment,
): Promise<Result<VerifierProgram, PackageRefusal>> {
  const found = findCompanion('assay-verify', environment);
  return found.ok ? ok((await import(found.value.href)) as VerifierProgram) : found; // of the same version
}

/** The folder in which packages are installed that a user agreed to fetch. */
export function locateFetched(environment: ConfigEnvironment): string {
  return join(environment.assayHome ?? locateHome(environment), 'packages');
}

/**
 * The `node_modules` that Assay itself is in, or that of its workspace. Node would look into all folders above, but a
 * sandboxed server or another user who may write there could create one that nothing protects.
 */
function listModuleFolders(from: string): readonly string[] {
  const folders: string[] = [];
  for (let at = from, above = dirname(at); above !== at; at = above, above = dirname(at))
    if (basename(at) === 'node_modules') folders.push(at);
  const workspace = /^(.*)[\\/]packages[\\/]gateway[\\/](?:dist|src[\\/]app)$/.exec(from)?.[1];
  if (folders.length === 0 && workspace !== undefined) folders.push(join(workspace, 'node_modules'));
  return folders;
}

/** The command that installs a package where Assay finds it, and the folder in which to run it, if that matters. */
function getInstallCommand(
  name: CompanionName,
  from: string,
  fetched: string,
): { readonly command: string; readonly folder?: string } {
  const wanted = `${name}@${VERSION}`;
  const at = from.indexOf(`${sep}node_modules${sep}`);
  // npx keeps what it installed only for a while.
  if (at === -1 || isShortLived([from]))
    return { command: `npm install --prefix ${quoteShellArgument(fetched)} ${wanted}` };
  const folder = from.slice(0, at);
  return isThere(join(folder, 'package.json'))
    ? { command: `npm install ${wanted}`, folder }
    : { command: `npm install --global ${wanted}` };
}

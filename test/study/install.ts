import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashInstallation } from '@assay-mcp/kit/platform/hash-installation';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { at, parseJson } from '../support/json.ts';

/** A server that was installed into a folder of its own, outside the tree. */
export interface InstalledServer {
  readonly folder: string;
  /** Its program, relative to the folder. */
  readonly program: string;
  /** Of the package's archive, as the registry states it. */
  readonly integrity: string;
  /** Digest of the package's files and of all packages that it depends on. */
  readonly installation: string;
  readonly remove: () => Promise<void>;
}

export type InstallFault = 'not_installed' | 'too_large' | 'no_program';

const INSTALL_LIMIT_MS = 90_000;
const MAX_MEGABYTES = 500;
const run = promisify(execFile);

/** Installs one version without running its scripts. `main`: the program, if its package names several. */
export async function installServer(
  name: string,
  version: string,
  main?: string,
): Promise<Result<InstalledServer, InstallFault>> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-study-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  const failed = async (fault: InstallFault): Promise<Result<never, InstallFault>> => {
    await remove();
    return err(fault);
  };
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', '--prefer-offline'];
  try {
    await run('npm', [...npm, `${name}@${version}`], {
      ...{ cwd: folder, timeout: INSTALL_LIMIT_MS, maxBuffer: 16 * 1024 * 1024 },
      // The program `node` of this repository's devDependencies is not what npm should start.
      env: { ...process.env, npm_config_update_notifier: 'false' },
    });
  } catch {
    return failed('not_installed');
  }
  if ((await megabytesOf(folder)) > MAX_MEGABYTES) return failed('too_large');
  const inPackage = main ?? (await programOf(join(folder, 'node_modules', name), name));
  if (inPackage === undefined) return failed('no_program');
  const installation = await hashInstallation(join(folder, 'node_modules', name));
  if (installation === undefined) return failed('too_large');
  const lock = parseJson(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  const integrity = at(lock, 'packages', `node_modules/${name}`, 'integrity');
  const program = join('node_modules', name, inPackage);
  const facts = {
    integrity: typeof integrity === 'string' ? integrity : '',
    installation: installation.digest,
  };
  return ok({ folder, program, ...facts, remove });
}

async function megabytesOf(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sm', folder]);
  return Number.parseInt(stdout, 10);
}

/** The program that npx would start: the only one, or the one with the name of the package. */
async function programOf(folder: string, name: string): Promise<string | undefined> {
  const manifest = parseJson(await readFile(join(folder, 'package.json'), 'utf8'));
  const bin = at(manifest, 'bin');
  if (typeof bin === 'string') return bin;
  const programs = typeof bin === 'object' && bin !== null ? Object.entries(bin) : [];
  const own = programs.find(([key]) => key === name.replace(/^@[^/]+\//, '')) ?? programs[0];
  return typeof own?.[1] === 'string' ? own[1] : undefined;
}

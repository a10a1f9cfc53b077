import { mkdir, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { walkPath } from '@assay-mcp/sandbox/walk-path';
import type * as Codebase from '../../../codebase/src/program.ts';
import { SECRETS_IN_HOME, SECRETS_IN_SYSTEM } from '@assay-mcp/kit/secret-files';
import type { TransportOf } from '../core/server-spec.ts';
import type { Command } from '@assay-mcp/sandbox/rights';
import { probeSandboxSupport } from './confine.ts';

export interface CodebaseHome {
  /** The absolute folder of Assay's data. */
  readonly home: string;
  readonly userHome: string;
  /** Assay's config file. */
  readonly configPath: string;
}

/** The kernel's own folders. What a process sees of them is that of its sandbox. */
const KERNEL_FOLDERS: readonly string[] = ['/proc', '/sys', '/dev'];

interface ConfineOptions extends CodebaseHome {
  /** The folders that a terminal was told. */
  readonly told: readonly string[];
  readonly codebase: Pick<typeof Codebase, 'listServices'>;
}

/** Code search as a process in a sandbox: its roots read-only, and its indexes. Undefined where that is not possible. */
export async function confineCodebase(
  { command, args, env, cwd, roots }: TransportOf<'codebase'>,
  { home, userHome, configPath, told, codebase }: ConfineOptions,
): Promise<Command | undefined> {
  if (!(await probeSandboxSupport()).canEnforce) return undefined;
  const indexes = join(home, 'codebase');
  await mkdir(indexes, { recursive: true, mode: 0o700 });
  const isChosen = !isInside(userHome, cwd);
  const declared = await rootsAt(roots ?? (isChosen ? [cwd] : []));
  const services = codebase.listServices(env);
  const realHome = await realpath(home);
  const realConfig = await realpath(configPath).catch(() => configPath);
  const confined = {
    ...(roots !== undefined && { roots: declared.roots }),
    told,
    own: [...new Set([home, configPath, realConfig])],
  };
  return {
    command,
    args: [...args, '--home', realHome, '--confined', JSON.stringify(confined)],
    env: { ...env, HOME: userHome },
    cwd: roots === undefined && isChosen ? cwd : '/',
    network: services,
    confinement: {
      rights: services.length > 0 ? 'read_network' : 'read',
      reads: outermost([...(await expanded(declared.roots)), ...told]),
      links: { ...declared.links, ...(await linksOn([userHome])) },
      writes: { path: join(realHome, 'codebase'), from: await realpath(indexes) },
      hidden: [...SECRETS_IN_HOME.map((path) => join(userHome, path)), ...SECRETS_IN_SYSTEM],
    },
  };
}

interface Resolved {
  /** Real paths. */
  readonly roots: readonly string[];
  readonly links: Readonly<Record<string, string>>;
}

async function rootsAt(paths: readonly string[]): Promise<Resolved> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  const roots = real.filter(
    (path) => path !== undefined && !KERNEL_FOLDERS.some((one) => isInside(path, one)),
  );
  return { roots: roots as readonly string[], links: await linksOn(paths) };
}

/** The links on the way to paths. A client may name a root, or a folder in it, as its operator wrote it. */
async function linksOn(paths: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const walked = await Promise.all(paths.map((path) => walkPath(path)));
  const links = [...new Set(walked.flatMap((one) => one.links))];
  return Object.fromEntries(
    await Promise.all(links.map(async (link) => [link, await readlink(link)] as const)),
  );
}

/** Instead of `/`, what is in it. */
async function expanded(roots: readonly string[]): Promise<readonly string[]> {
  if (!roots.includes('/')) return roots;
  const found = await readdir('/', { withFileTypes: true });
  const folders = found.filter((one) => one.isDirectory()).map(({ name }) => `/${name}`);
  return [
    ...roots.filter((root) => root !== '/'),
    ...folders.filter((path) => !KERNEL_FOLDERS.includes(path)),
  ];
}

function outermost(roots: readonly string[]): readonly string[] {
  return [...new Set(roots)].filter((root) => !roots.some((one) => one !== root && isInside(root, one)));
}

// Servers of the reach measurement: installed from npm, and started in a sandbox.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOpenSandbox } from '@assay-mcp/sandbox/open-sandbox';
import { ROOT } from '../../../../test/support/paths.ts';
import type { Setting } from '../../src/experiment/examine-server.ts';
import { SandboxedServer } from '../../src/experiment/sandboxed-server.ts';
import { prepareSeed, type Seed } from '../../src/seed.ts';
import type { ReachServer } from './servers.ts';

const FOLDER = join(ROOT, '.study', 'reach');
const INSTALL_LIMIT_MS = 120_000;

export function locateFolder({ package: name }: ReachServer): string {
  return join(FOLDER, name.replaceAll(/[@/]/g, '_'));
}

/** Installs one version without running scripts of packages. Throws if npm cannot. */
export async function install(server: ReachServer): Promise<void> {
  const folder = locateFolder(server);
  if (existsSync(join(folder, 'node_modules', server.package))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const spec = `${server.package}@${server.version}`;
  const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', spec];
  await promisify(execFile)('npm', npm, { cwd: folder, timeout: INSTALL_LIMIT_MS });
}

/** The server's program. Throws if its package names none. */
export function findProgram(server: ReachServer): string {
  const own = join(locateFolder(server), 'node_modules', server.package);
  const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
    readonly bin?: string | Readonly<Record<string, string>>;
  };
  const { bin = {} } = manifest;
  const main = server.main ?? (typeof bin === 'string' ? bin : Object.values(bin)[0]);
  if (main === undefined) throw new Error(`${server.package} has no program`);
  return join(own, main);
}

/** How a server is opened in sandboxes, with default seed data. */
export function buildSetting(server: ReachServer, seed: Seed): Setting {
  const seedPath = join(tmpdir(), 'assay-verify');
  const withSeed = (text: string): string => text.replaceAll('{seed}', seedPath);
  const cwd = locateFolder(server);
  const command = {
    command: process.execPath,
    args: [findProgram(server), ...(server.args ?? []).map(withSeed)],
  };
  const env = Object.entries(server.env ?? {}).map(([key, value]) => [key, withSeed(value)] as const);
  return {
    openSandbox: createOpenSandbox(),
    sandbox: { program: command, cwd, roots: [{ path: seedPath, from: seed.folder }] },
    server: { ...command, cwd, env: Object.fromEntries(env) },
    ...{ seed, seedPath, callMs: 10_000, exploreMs: 240_000 },
    ...{ given: () => [], skipped: new Set(), signal: AbortSignal.timeout(400_000) },
  };
}

/** Undefined if it does not start. */
export async function withReachServer<T>(
  server: ReachServer,
  startLimitMs: number,
  use: (opened: SandboxedServer) => Promise<T>,
): Promise<T | undefined> {
  const seed = await prepareSeed(undefined);
  try {
    const setting = buildSetting(server, seed);
    const signal = AbortSignal.timeout(2 * startLimitMs);
    const opened = await SandboxedServer.open({ ...setting, startLimitMs, signal });
    if (!opened.ok) return undefined;
    try {
      return await use(opened.value);
    } finally {
      await opened.value.close();
    }
  } finally {
    await seed.remove();
  }
}

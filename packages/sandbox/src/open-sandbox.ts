import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { err, ok } from '@assay-mcp/kit/result';
import { PLAIN_LAUNCHER, type Launcher } from '@assay-mcp/kit/platform/launcher';
import type { OpenSandbox, SandboxOptions } from './observation.ts';
import { buildCanaryFiles } from './canaries.ts';
import { SINK_COMMAND } from './network-sink.ts';
import { planLayout, SYSTEM_FOLDERS, TEMPORARY_FOLDERS, type Layout } from './layout.ts';
import { buildObservationFilter } from './seccomp-filters.ts';
import { probeMachine, type Machine } from './probe.ts';
import { findProgramFiles } from './program-files.ts';
import { RunningSandbox } from './running-sandbox.ts';
import { buildSetupScript } from './setup-script.ts';
import { inspectTopLevel } from './top-level.ts';

/** Opens sandboxes on this machine. `launcher` starts their processes. */
export function createOpenSandbox(
  machine: () => Promise<Machine> = probeMachine,
  launcher: Launcher = PLAIN_LAUNCHER,
): OpenSandbox {
  return async (options) => {
    const found = await machine();
    return found.canConfine ? ok(await open(options, found, launcher)) : err(found.missing);
  };
}

async function open(
  options: SandboxOptions,
  machine: Extract<Machine, { canConfine: true }>,
  launcher: Launcher,
): Promise<RunningSandbox> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'assay-sandbox-'));
  try {
    const canaries =
      machine.programs.strace === undefined ? {} : buildCanaryFiles(randomBytes(20).toString('hex'));
    await writeSeeds(folder, { ...canaries, ...options.homeFiles });
    const system = await inspectTopLevel(SYSTEM_FOLDERS);
    const layout = await layoutFor(options, {
      folder,
      isPrivileged: machine.isPrivileged,
      systemFolders: system.folders,
    });
    await writeFile(
      join(folder, 'filter'),
      buildObservationFilter(process.arch, { isTraced: machine.programs.strace !== undefined }),
    );
    const areas = await Promise.all(
      layout.areas.map(async (area) => {
        const { mode, uid, gid } = await stat(area.lower);
        return { ...area, mode: mode & 0o7777, uid, gid };
      }),
    );
    const { isPrivileged, programs } = machine;
    await writeFile(
      join(folder, 'setup.sh'),
      buildSetupScript({ folder, areas, views: layout.views, isPrivileged, programs }),
    );
    return new RunningSandbox({
      folder,
      layout,
      machine,
      launcher,
      startCwd: options.cwd,
      canaries: new Set(Object.keys(canaries).filter((path) => options.homeFiles?.[path] === undefined)),
      systemFolders: system.folders,
      systemLinks: system.links,
      replaced: await replacedFiles(folder),
    });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function layoutFor(
  { cwd, roots = [], readable = [], program }: SandboxOptions,
  where: {
    readonly isPrivileged: boolean;
    readonly folder: string;
    readonly systemFolders: readonly string[];
  },
): Promise<Layout> {
  const { isPrivileged, folder, systemFolders } = where;
  const realHome = await realpath(homedir()).catch(() => homedir());
  const files =
    program === undefined
      ? { readable: [], folders: [], projects: [] }
      : await findProgramFiles({ ...program, cwd, home: realHome, path: process.env['PATH'] ?? '' });
  const [command = '', ...args] = SINK_COMMAND;
  const ofSink = await findProgramFiles({ command, args, cwd: '/', home: realHome, path: '' });
  const temporary = await Promise.all(
    TEMPORARY_FOLDERS.map(async (path) => ((await isFolder(path)) ? [path] : [])),
  );
  const allReadable = [...files.readable, ...ofSink.readable, ...readable];
  const readableFolders = await Promise.all(
    allReadable.map(async (path) => ((await isFolder(path)) ? [path] : [])),
  );
  return planLayout({
    realHome,
    cwd: resolve(cwd),
    roots: [...[...files.projects, ...files.folders].map((path) => ({ path })), ...roots],
    readable: allReadable,
    readableFolders: new Set(readableFolders.flat()),
    systemFolders,
    isPrivileged,
    homeSeed: join(folder, 'seed', 'home'),
    temporarySeed: join(folder, 'seed', 'tmp'),
    temporaryFolders: temporary.flat(),
  });
}

async function writeSeeds(folder: string, homeFiles: Readonly<Record<string, string>>): Promise<void> {
  const home = join(folder, 'seed', 'home');
  await mkdir(join(folder, 'w'));
  await mkdir(home, { recursive: true });
  await mkdir(join(folder, 'seed', 'tmp'));
  await chmod(join(folder, 'seed', 'tmp'), 0o1777);
  for (const [path, content] of Object.entries(homeFiles)) {
    const at = join(home, path);
    await mkdir(dirname(at), { recursive: true });
    await writeFile(at, content, { mode: 0o600 });
  }
}

/** A resolver config for the sandbox's own loopback interface, where queries are traced and answered by the sink. */
async function replacedFiles(folder: string): Promise<Readonly<Record<string, string>>> {
  const replaced: Record<string, string> = {};
  const contents = {
    '/etc/resolv.conf': 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n',
    '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  };
  for (const [path, content] of Object.entries(contents)) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) continue;
    const from = join(folder, path.replaceAll('/', '_'));
    await writeFile(from, content, { mode: 0o644 });
    replaced[real] = from;
  }
  return replaced;
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

import { createRequire } from 'node:module';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { FunctionModuleSpec } from '../../../core/sources/custom-tools.ts';
import type { LoadMessage } from '@assay-mcp/functions/function-messages';
import { isFolder, isThere, resolveRealPath } from '@assay-mcp/kit/platform/files';
import { findLinkOut } from '@assay-mcp/kit/platform/links';
import type { ChildOptions } from '@assay-mcp/kit/platform/child';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

export interface RunnerCommand {
  readonly options: ChildOptions;
  readonly load: Omit<LoadMessage, 'mark'>;
}

export interface RunnerLocation {
  /** Path of the built `function-runner.js`. */
  readonly runner: string;
  /** Absolute paths of folders that no module may read. */
  readonly forbidden?: readonly string[] | undefined;
  /** Why the module's file must not be run, as a phrase. */
  readonly fileFault?: ((path: string) => string | undefined) | undefined;
}

/**
 * SQLite writes files regardless of Node's permissions. The network is open to functions, which Node 25 and later would
 * deny.
 */
const FLAGS = ['--no-experimental-sqlite', '--allow-net'];
/** Maximum folder entries to check for symbolic links, which Node's permissions follow wherever they lead. */
const MAX_ENTRIES = 20_000;
const MAX_FRAMES = 50;
/** Warnings that the runner itself causes or that the operator cannot fix. */
const SILENCED = ['ExperimentalWarning', 'SecurityWarning', 'MODULE_TYPELESS_PACKAGE_JSON'];

/** The command that starts a module's process with exactly the permissions of its spec. The error is a phrase. */
export async function buildRunnerCommand(
  spec: FunctionModuleSpec,
  { runner, forbidden = [], fileFault }: RunnerLocation,
): Promise<Result<RunnerCommand, string>> {
  if (!isThere(spec.path)) return err(`the file ${JSON.stringify(spec.path)} does not exist`);
  const fault = fileFault?.(spec.path);
  if (fault !== undefined) return err(`it ${fault}`);
  const [path, script] = await Promise.all([resolveRealPath(spec.path), resolveRealPath(runner)]);
  const folder = dirname(path);
  const zod = await zodPackage();
  const reads = [
    dirname(script),
    folder,
    ...(zod === undefined ? [] : [dirname(zod)]),
    ...(await packagesAbove(folder)),
    ...(await withRealPaths(spec.reads)),
  ];
  const writes = await withRealPaths(spec.writes);
  const closed = await closedTo({ folder, spec, forbidden });
  if (closed !== undefined) return err(closed);
  const out = await findLinkOut([folder, ...spec.reads, ...spec.writes], {
    within: [...reads, ...writes],
    max: MAX_ENTRIES,
  });
  if (out !== undefined)
    return err(
      `the link ${JSON.stringify(out.link)} leads to ${JSON.stringify(out.target)}, which it may not read: add the target to "reads", or remove the link`,
    );
  const odd = [...reads, ...writes].find((one) => one.includes('*'));
  if (odd !== undefined)
    return err(`its process cannot be confined because the path ${JSON.stringify(odd)} contains a "*"`);
  return ok({
    options: {
      command: process.execPath,
      args: [
        '--permission',
        ...FLAGS.filter((flag) => process.allowedNodeEnvironmentFlags.has(flag)),
        ...reads.map((one) => `--allow-fs-read=${one}`),
        ...writes.flatMap((one) => [`--allow-fs-read=${one}`, `--allow-fs-write=${one}`]),
        `--max-old-space-size=${spec.memoryMb}`,
        `--stack-trace-limit=${MAX_FRAMES}`,
        ...SILENCED.map((one) => `--disable-warning=${one}`),
        script,
      ],
      cwd: folder,
      env: spec.env,
      inherits: 'language',
    },
    load: { kind: 'load', path, zod },
  });
}

/** How messages name the module. */
export function getModuleName({ path }: FunctionModuleSpec): string {
  return basename(path);
}

interface PathAccess {
  readonly folder: string;
  readonly spec: FunctionModuleSpec;
  readonly forbidden: readonly string[];
}

/** Why one of the paths would expose a forbidden folder, as a phrase. The module's own folder may lie inside one. */
async function closedTo({ folder, spec, forbidden }: PathAccess): Promise<string | undefined> {
  const homes = await withRealPaths(forbidden);
  const isOpened = (path: string): boolean => homes.some((home) => isInside(home, path));
  const isInHome = (path: string): boolean => homes.some((home) => isInside(resolve(path), home));
  if (isOpened(folder))
    return `its folder ${JSON.stringify(folder)} contains Assay's home folder, whose secrets functions must not read: move it to a separate folder`;
  for (const [member, paths] of Object.entries({ reads: spec.reads, writes: spec.writes })) {
    const found = (await withRealPaths(paths)).find((path) => isOpened(path) || isInHome(path));
    if (found !== undefined)
      return `its "${member}" name ${JSON.stringify(found)}, which contains or is in Assay's home folder, whose secrets functions must not read`;
  }
  return undefined;
}

/** Node checks both the path as given and its real path. */
async function withRealPaths(paths: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(paths.map(resolveRealPath));
  return [...new Set([...paths, ...real])];
}

/** The `node_modules` folders that the module may import from. */
async function packagesAbove(folder: string): Promise<readonly string[]> {
  const parts = folder.split(sep);
  const above = parts.map((_, index) => join(parts.slice(0, index + 1).join(sep) || sep, 'node_modules'));
  const there = await Promise.all(above.map(isFolder));
  return withRealPaths(above.filter((_, index) => there[index] === true));
}

async function zodPackage(): Promise<string | undefined> {
  try {
    return await resolveRealPath(createRequire(import.meta.url).resolve('zod/package.json'));
  } catch {
    return undefined;
  }
}

import { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import type { FunctionModuleSpec } from '../../../core/sources/function-module.ts';
import type { Loading } from '../../../core/sources/function-messages.ts';
import { isFolder, isThere, realPath } from '../../../platform/files.ts';
import type { ChildOptions } from '../../../platform/child.ts';
import { err, ok, type Result } from '../../../core/result.ts';

export interface RunnerCommand {
  readonly options: ChildOptions;
  readonly load: Omit<Loading, 'mark'>;
}

const MAX_FRAMES = 50;
/** What the runner itself brings about, and what nobody can mend. */
const SILENCED = ['ExperimentalWarning', 'SecurityWarning', 'MODULE_TYPELESS_PACKAGE_JSON'];

/** How the process of a module is started: with the rights of its spec and no others. The error is a phrase. */
export async function runnerCommand(
  spec: FunctionModuleSpec,
  runner: string,
): Promise<Result<RunnerCommand, string>> {
  if (!(await isThere(spec.path))) return err(`there is no file ${JSON.stringify(spec.path)}`);
  const [path, script] = await Promise.all([realPath(spec.path), realPath(runner)]);
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
  const odd = [...reads, ...writes].find((one) => one.includes('*'));
  if (odd !== undefined)
    return err(`its process cannot be confined, as the path ${JSON.stringify(odd)} holds a "*"`);
  return ok({
    options: {
      command: process.execPath,
      args: [
        '--permission',
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

/** How the module is called in sentences. */
export function nameOf({ path }: FunctionModuleSpec): string {
  return basename(path);
}

/** Node asks of a path as it was named and of what it leads to. */
async function withRealPaths(paths: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(paths.map(realPath));
  return [...new Set([...paths, ...real])];
}

/** Where the module may find what it imports by name. */
async function packagesAbove(folder: string): Promise<readonly string[]> {
  const parts = folder.split(sep);
  const above = parts.map((_, index) => join(parts.slice(0, index + 1).join(sep) || sep, 'node_modules'));
  const there = await Promise.all(above.map(isFolder));
  return withRealPaths(above.filter((_, index) => there[index] === true));
}

async function zodPackage(): Promise<string | undefined> {
  try {
    return await realPath(createRequire(import.meta.url).resolve('zod/package.json'));
  } catch {
    return undefined;
  }
}

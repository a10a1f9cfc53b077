import { constants } from 'node:fs';
import { access, open, stat, statfs } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import process from 'node:process';
import { listWindowsCandidates } from './windows-command.ts';

/** The properties of a path, with links followed. This module changes nothing. */
export interface PathFacts {
  readonly is: 'folder' | 'file' | 'other';
  /** Permission bits; undefined on systems without them. */
  readonly mode: number | undefined;
  readonly bytes: number;
}

const HAS_MODES = process.platform !== 'win32';

/** Undefined if nothing is there or it cannot be seen. */
export async function inspectPath(path: string): Promise<PathFacts | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  const is = found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other';
  return { is, mode: HAS_MODES ? found.mode & 0o7777 : undefined, bytes: found.size };
}

/** The first bytes of a file as Latin-1 text. Empty if it cannot be read. */
export async function readStart(path: string, bytes: number): Promise<string> {
  // Opening a FIFO would wait for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return '';
  } finally {
    await file.close();
  }
}

export async function isWritable(path: string): Promise<boolean> {
  return isAllowed(path, constants.W_OK);
}

/** The path itself if it exists, else its nearest existing ancestor. */
export async function findNearestExisting(path: string): Promise<string> {
  const above = dirname(path);
  return above === path || (await inspectPath(path)) !== undefined ? path : findNearestExisting(above);
}

/** Number of bytes this user can still write on the path's disk; undefined if unknown. */
export async function measureFreeBytes(path: string): Promise<number | undefined> {
  const disk = await statfs(path).catch(() => undefined);
  return disk && disk.bavail * disk.bsize;
}

/** Maximum number of files this process may have open. */
export function getOpenFilesLimit(): number | undefined {
  // Otherwise the report resolves the host name of each open connection, which can take minutes.
  Object.assign(process.report, { excludeNetwork: true });
  const report: unknown = process.report.getReport();
  const { userLimits } = report as { readonly userLimits?: { readonly open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}

/** Where the system would find a command. */
export type FoundCommand =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'not_executable'; readonly path: string }
  | { readonly kind: 'absent' };

export interface FindCommandOptions {
  /** Base for relative paths. */
  readonly cwd: string;
  /** The PATH the process would have. */
  readonly path: string;
}

/** Finds a command the way starting a process would: names in the folders of PATH, anything with a slash as a path. */
export async function findCommand(command: string, { cwd, path }: FindCommandOptions): Promise<FoundCommand> {
  const folders = command.includes('/') ? [cwd] : path.split(delimiter).filter((folder) => folder !== '');
  const candidates = HAS_MODES
    ? folders.map((folder) => resolve(cwd, folder, command))
    : listWindowsCandidates(command, { cwd, path, pathExt: process.env['PATHEXT'] });
  let unfit: string | undefined;
  for (const candidate of candidates) {
    if ((await inspectPath(candidate))?.is !== 'file') continue;
    if (await isAllowed(candidate, constants.X_OK)) return { kind: 'found', path: candidate };
    unfit ??= candidate;
  }
  return unfit === undefined ? { kind: 'absent' } : { kind: 'not_executable', path: unfit };
}

function isAllowed(path: string, right: number): Promise<boolean> {
  return access(path, right).then(
    () => true,
    () => false,
  );
}

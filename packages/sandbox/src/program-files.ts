import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import process from 'node:process';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { parseObject } from '@assay-mcp/kit/json-object';
import { findCommand, inspectPath } from '@assay-mcp/kit/platform/machine';
import { readTextWithin } from '@assay-mcp/kit/platform/bounded-file';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

export interface ProgramFiles {
  /** Files and folders that the program itself consists of. */
  readonly readable: readonly string[];
  /** Project folders of the scripts that it names (with the `package.json`), where some servers keep data. */
  readonly projects: readonly string[];
  /** Folders among its arguments, which count as its data. */
  readonly folders: readonly string[];
}

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly path: string;
  readonly home: string;
}

const MAX_MANIFEST_BYTES = 1024 * 1024;
const PROJECT_FILES = ['package.json', 'pyproject.toml'];

/**
 * The files that a command line names: the interpreter with its libraries, the project of a script, and data folders.
 */
export async function findProgramFiles(options: ProgramOptions): Promise<ProgramFiles> {
  const { command, args, cwd, path } = options;
  // The paths below are real, so the home must be, too.
  const home = await realpath(options.home).catch(() => options.home);
  const readable: string[] = [];
  const folders: string[] = [];
  const projects: string[] = [];
  const found = await findCommand(command, { cwd, path });
  if (found.kind === 'found') readable.push(...(await ofCommand(found.path, home)));
  for (const arg of args.filter((one) => one !== '' && !one.startsWith('-'))) {
    const at = resolve(cwd, arg);
    const facts = await inspectPath(at);
    if (facts?.is === 'folder') folders.push(at);
    else if (facts?.is === 'file') {
      const { files, project } = await ofScript(at, home);
      readable.push(...files);
      if (project !== undefined) projects.push(project);
    }
  }
  return { readable, folders, projects };
}

/** An executable, and the prefix in which it was installed: `~/.nvm/versions/node/v24` of `…/v24/bin/node`. */
async function ofCommand(path: string, home: string): Promise<readonly string[]> {
  const real = await realpath(path).catch(() => path);
  const prefix = dirname(dirname(real));
  const isInstalled =
    basename(dirname(real)) === 'bin' && (await inspectPath(join(prefix, 'lib')))?.is === 'folder';
  // ~/.local contains much more than programs.
  const isShared = isInside(home, prefix) || basename(prefix) === '.local';
  const files = isInstalled && !isShared ? [prefix] : [real];
  if (isInstalled) return [path, ...files];
  const script = await ofScript(real, home);
  return [path, ...files, ...script.files];
}

interface ScriptFiles {
  readonly files: readonly string[];
  /** The innermost folder with a `package.json` or `pyproject.toml`. */
  readonly project: string | undefined;
}

/** A script with its project, and every `node_modules` in which Node looks for what it imports, with what is linked there. */
async function ofScript(path: string, home: string): Promise<ScriptFiles> {
  const real = await realpath(path).catch(() => path);
  const files = [path, real];
  let project: string | undefined;
  for (
    let folder = dirname(real);
    folder !== dirname(folder) && !isInside(home, folder);
    folder = dirname(folder)
  ) {
    if (basename(folder) === 'node_modules') files.push(folder);
    const modules = join(folder, 'node_modules');
    if ((await inspectPath(modules))?.is === 'folder')
      files.push(modules, ...(await listLinkedPackages(modules)));
    for (const name of PROJECT_FILES)
      if (project === undefined && (await inspectPath(join(folder, name)))?.is === 'file') project = folder;
  }
  return { files: project === undefined ? files : [...files, project], project };
}

const MAX_LINKED = 500;

/** The packages of the same workspace that npm linked into a `node_modules`. */
async function listLinkedPackages(modules: string): Promise<readonly string[]> {
  const workspace = dirname(modules);
  if (!(await hasWorkspaces(join(workspace, 'package.json')))) return [];
  const entries = await listEntries(modules);
  const scopes = entries.filter((one) => one.isDirectory() && one.name.startsWith('@'));
  const scoped = await Promise.all(scopes.map(({ name }) => listEntries(join(modules, name))));
  const links = [...entries, ...scoped.flat()].filter((one) => one.isSymbolicLink()).slice(0, MAX_LINKED);
  const found = await Promise.all(links.map((link) => followLink(link, { workspace, modules })));
  return found.filter((path) => path !== undefined);
}

function listEntries(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

async function hasWorkspaces(manifest: string): Promise<boolean> {
  const text = await readTextWithin(manifest, MAX_MANIFEST_BYTES);
  return text.ok && parseObject(text.value)['workspaces'] !== undefined;
}

/**
 * The package to which a link leads. Undefined for all else, since whoever can write there could show a sandbox any file:
 * what is outside of the workspace or holds its `node_modules`, hidden folders, and links by another user to something
 * that is not theirs.
 */
async function followLink(
  { parentPath, name }: Dirent,
  { workspace, modules }: { readonly workspace: string; readonly modules: string },
): Promise<string | undefined> {
  try {
    const path = join(parentPath, name);
    const target = await realpath(path);
    const way = relative(workspace, target).split(sep);
    if (!isInside(target, workspace) || isInside(target, modules) || isInside(modules, target))
      return undefined;
    if (way.some((part) => part.startsWith('.'))) return undefined;
    const [link, there] = await Promise.all([lstat(path), lstat(target)]);
    if (![0, process.getuid?.(), there.uid].includes(link.uid)) return undefined;
    return (await inspectPath(join(target, 'package.json')))?.is === 'file' ? target : undefined;
  } catch {
    return undefined; // it leads nowhere, or is gone
  }
}

import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { findCommand, inspectPath } from '../platform/machine.ts';
import { isInside } from '../platform/is-inside.ts';

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

const PROJECT_FILES = ['package.json', 'pyproject.toml'];

/**
 * The files that a command line names: the interpreter with its libraries, the project of a script, and data folders.
 */
export async function findProgramFiles(options: ProgramOptions): Promise<ProgramFiles> {
  const { command, args, cwd, path, home } = options;
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

/** A script with its project, and every `node_modules` in which Node looks for what it imports. */
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
    if ((await inspectPath(modules))?.is === 'folder') files.push(modules);
    for (const name of PROJECT_FILES)
      if (project === undefined && (await inspectPath(join(folder, name)))?.is === 'file') project = folder;
  }
  return { files: project === undefined ? files : [...files, project], project };
}

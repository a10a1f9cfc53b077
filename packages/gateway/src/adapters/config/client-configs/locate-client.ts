import { posix, win32 } from 'node:path';
import type { Base, Client, System, UserFile } from './clients.ts';
import type { EntryShape } from './entry-shapes.ts';

/** Determines where the files of other programs are. */
export interface Machine {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder. */
  readonly home: string;
}

/** A client's config file, which may not exist. */
export interface ClientFile {
  /** Absolute. */
  readonly path: string;
  /** A folder that exists if the client is installed; for a project file, the project folder. */
  readonly installedFolder: string;
  readonly shape: EntryShape;
}

/** The files for servers of all projects, starting with the one that current versions of the client read. */
export function listUserFiles(client: Client, machine: Machine): readonly ClientFile[] {
  const system = systemOf(machine.platform);
  const paths = getPathModule(machine.platform);
  return client.userFiles
    .filter(({ systems }) => systems?.includes(system) ?? true)
    .map((file) => {
      const base = folderOf(file.base, machine);
      return {
        path: paths.join(base, ...file.path),
        installedFolder: installedFolderOf(file, base, machine),
        shape: file.shape ?? client.shape,
      };
    });
}

/** The file for servers of one project. Undefined if the client has none. */
export function findProjectFile(client: Client, project: string, platform: string): ClientFile | undefined {
  const paths = getPathModule(platform);
  return (
    client.projectFile && {
      path: paths.join(project, ...client.projectFile),
      installedFolder: project,
      shape: client.shape,
    }
  );
}

/** The path functions of a platform, which may not be the current one. */
export function getPathModule(platform: string): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

function installedFolderOf(file: UserFile, base: string, machine: Machine): string {
  const { path, ownFolder, installedFolder } = file;
  const own = getPathModule(machine.platform).join(base, ...(installedFolder ?? path.slice(0, ownFolder)));
  return file.base === 'claude' ? (claudeFolder(machine) ?? own) : own;
}

/** `config` is Electron's `appData`, https://www.electronjs.org/docs/latest/api/app#appgetpathname. */
function folderOf(base: Base, machine: Machine): string {
  const { platform, env, home } = machine;
  const paths = getPathModule(platform);
  switch (base) {
    case 'home':
      return home;
    case 'claude':
      return claudeFolder(machine) ?? home;
    case 'codex':
      // https://developers.openai.com/codex/config-advanced
      return setIn(env, 'CODEX_HOME') ?? paths.join(home, '.codex');
    case 'gemini':
      return setIn(env, 'GEMINI_CLI_HOME') ?? home;
    case 'xdg':
      return setIn(env, 'XDG_CONFIG_HOME') ?? paths.join(home, '.config');
    case 'packages':
      return paths.join(setIn(env, 'LOCALAPPDATA') ?? paths.join(home, 'AppData', 'Local'), 'Packages');
    case 'config':
      if (platform === 'win32') return setIn(env, 'APPDATA') ?? paths.join(home, 'AppData', 'Roaming');
      if (platform === 'darwin') return paths.join(home, 'Library', 'Application Support');
      return setIn(env, 'XDG_CONFIG_HOME') ?? paths.join(home, '.config');
  }
}

/** https://code.claude.com/docs/en/settings: if set, all of `~/.claude*` is inside it. */
function claudeFolder({ env }: Machine): string | undefined {
  return setIn(env, 'CLAUDE_CONFIG_DIR');
}

function setIn(env: Machine['env'], name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

function systemOf(platform: string): System {
  return platform === 'win32' || platform === 'darwin' ? platform : 'linux';
}

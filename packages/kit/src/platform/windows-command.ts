import { win32 } from 'node:path';

export interface WindowsSearch {
  /** Base for relative paths. */
  readonly cwd: string;
  /** The PATH that the process will have. */
  readonly path: string;
  /** The variable PATHEXT; its default if undefined. */
  readonly pathExt?: string | undefined;
}

export interface WindowsStart {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether the arguments are already quoted, so that nothing may quote them again. */
  readonly isVerbatim: boolean;
}

/** Why a command cannot be started, as codes of the system. */
export type WindowsStartFault = 'ENOENT' | 'EINVAL' | 'E2BIG';

/** What the system assumes if PATHEXT is not set, without the endings of scripts that need a host of their own. */
const DEFAULT_PATH_EXT = '.COM;.EXE;.BAT;.CMD';

/**
 * Where Windows would look for a command, in order. A name is looked for in the folders of PATH with each ending of
 * PATHEXT: "npx" is npx.cmd, not the shell script beside it. Never in the working folder, which may be anybody's.
 */
export function listWindowsCandidates(
  command: string,
  { cwd, path, pathExt = '' }: WindowsSearch,
): readonly string[] {
  if (command === '' || command.includes('\0')) return [];
  const endings = (pathExt === '' ? DEFAULT_PATH_EXT : pathExt)
    .split(';')
    .filter((one) => /^\.\w+$/.test(one));
  const ending = win32.extname(command).toLowerCase();
  const hasEnding = endings.some((one) => one.toLowerCase() === ending);
  const names = [...(hasEnding ? [command] : []), ...endings.map((one) => command + one)];
  // A drive without a backslash ("C:tool") is relative to the current folder of that drive, which is nobody's choice.
  const folders = /[/\\:]/.test(command) ? [cwd] : listFolders(path);
  return folders.flatMap((folder) => names.map((name) => win32.resolve(cwd, folder, name)));
}

/** The absolute folders of a PATH; a folder with a semicolon in its name is in quotes. */
function listFolders(path: string): readonly string[] {
  const parts = path.match(/(?:"[^"]*"?|[^;"])+/g) ?? [];
  return parts.map((part) => part.replaceAll('"', '')).filter((folder) => win32.isAbsolute(folder));
}

/**
 * How to start a command on Windows. Programs are started as they are; batch files, such as npx.cmd, only cmd.exe can
 * run, and it reads variables and operators in what it is given.
 */
export function planWindowsStart(
  command: string,
  args: readonly string[],
  {
    isFile,
    systemRoot,
    ...search
  }: WindowsSearch & {
    readonly isFile: (path: string) => boolean;
    /** The variable SystemRoot, under which the cmd.exe of the system is. */
    readonly systemRoot?: string | undefined;
  },
): WindowsStart | WindowsStartFault {
  const file = listWindowsCandidates(command, search).find((candidate) => isFile(candidate));
  if (file === undefined) return 'ENOENT';
  if (!/\.(?:bat|cmd)$/i.test(file)) return { command: file, args, isVerbatim: false };
  // cmd.exe ends a command at a line break, even in quotes.
  if (/["\r\n\0]/.test(file) || args.some((arg) => /[\r\n\0]/.test(arg))) return 'EINVAL';
  const line = [`"${withoutExpansion(file)}"`, ...args.map(quoteForBatch)].join(' ');
  if (line.length > MAX_LINE_LENGTH) return 'E2BIG';
  const root = systemRoot === undefined || !win32.isAbsolute(systemRoot) ? 'C:\\Windows' : systemRoot;
  return {
    command: win32.join(root, 'System32', 'cmd.exe'),
    // No autorun, no "!", extensions on; /s: the outer quotes are removed, and nothing else.
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    isVerbatim: true,
  };
}

/** The limit of cmd.exe is 8,191 characters; the name and switches in front need some. */
const MAX_LINE_LENGTH = 8_000;

/**
 * Quotes an argument so that cmd.exe passes it on unchanged, and the program behind the batch file reads it as one.
 * Whatever is not known to be harmless is quoted (CVE-2024-24576; the same way as Rust's standard library).
 */
function quoteForBatch(arg: string): string {
  const isHarmless = /^[\w#$+\-./:@\\]+$/.test(arg) && !arg.endsWith('\\');
  if (isHarmless) return arg;
  const doubled = arg.replace(/(\\*)"/g, '$1$1""').replace(/\\+$/, '$&$&');
  return `"${withoutExpansion(doubled)}"`;
}

/** `%NAME%` is replaced even in quotes, so an expression that is replaced by nothing stands within each name. */
function withoutExpansion(text: string): string {
  return text.replaceAll('%', '%%cd:~,%');
}

import { lstatSync, statSync } from 'node:fs';
import process from 'node:process';
import { planWindowsStart, type WindowsStart, type WindowsStartFault } from './windows-command.ts';

interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** What to pass to the system to start a command with these variables. Only Windows needs to be told more than the name. */
export function planStart(
  { command, args, cwd }: Start,
  env: Readonly<Record<string, string>>,
): WindowsStart | WindowsStartFault {
  if (process.platform !== 'win32') return { command, args, isVerbatim: false };
  return planWindowsStart(command, args, {
    cwd,
    path: findVariable(env, 'PATH') ?? '',
    pathExt: findVariable(env, 'PATHEXT'),
    // That of Assay itself: an entry cannot choose another cmd.exe.
    systemRoot: process.env['SystemRoot'],
    isFile,
  });
}

/** Names of variables have no case on Windows; Node passes on the first of those that differ only in case, sorted. */
function findVariable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  const [first] = Object.keys(env)
    .filter((key) => key.toUpperCase() === name)
    .sort();
  return first === undefined ? undefined : env[first];
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return isAlias(path);
  }
}

/** Programs of the Microsoft Store are links that only the system can follow. */
function isAlias(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

import { basename, dirname, isAbsolute } from 'node:path';
import { findCommand } from './machine.ts';
import { readOutput } from './read-output.ts';

const PYTHON = /^python[\d.]*$/;

export interface SearchPath {
  readonly cwd: string;
  readonly path: string;
}

/**
 * The path of the Python that a pyenv or asdf shim starts: the shim itself reads the home folder, which a sandbox
 * hides. Any other command is returned unchanged.
 */
export async function resolveInterpreter(command: string, search: SearchPath): Promise<string> {
  if (!PYTHON.test(basename(command))) return command;
  const found = await findCommand(command, search);
  if (found.kind !== 'found' || basename(dirname(found.path)) !== 'shims') return command;
  const asked = ['-I', '-c', 'import sys; print(sys.executable)'];
  const path = (await readOutput(found.path, asked, { cwd: search.cwd })) ?? '';
  return isAbsolute(path) ? path : command;
}

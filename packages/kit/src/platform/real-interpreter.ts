import { execFile } from 'node:child_process';
import { basename, dirname, isAbsolute } from 'node:path';
import { promisify } from 'node:util';
import { findCommand } from './machine.ts';

const PYTHON = /^python[\d.]*$/;
const LIMIT_MS = 10_000;

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
  const options = { cwd: search.cwd, timeout: LIMIT_MS, maxBuffer: 64 * 1024 };
  const path = await promisify(execFile)(found.path, asked, options).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return isAbsolute(path) ? path : command;
}

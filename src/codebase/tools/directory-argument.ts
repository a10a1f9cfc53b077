import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Fault } from '../fault.ts';

/** Undefined if the argument is the absolute path of an existing directory. VALIDATION_ERROR, NOT_FOUND */
export async function directoryFault(field: string, path: string): Promise<Fault | undefined> {
  const fault = (message: string, code: Fault['code'] = 'VALIDATION_ERROR'): Fault => ({
    code,
    field,
    message,
    remedy: 'Pass the absolute path of an existing directory.',
  });
  const shown = JSON.stringify(path);
  if (path.trim() === '') return fault('The path is empty.');
  if (path.includes('\0')) return fault('The path contains a NUL character.');
  if (!isAbsolute(path)) return fault(`${shown} is not an absolute path.`);
  const found = await stat(path).catch((error: unknown) => error);
  if (found instanceof Error) {
    const code = 'code' in found ? String(found.code) : '';
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? fault(`${shown} does not exist.`, 'NOT_FOUND')
      : fault(`${shown} cannot be read (${code}).`);
  }
  const isDirectory = (found as Awaited<ReturnType<typeof stat>>).isDirectory();
  return isDirectory ? undefined : fault(`${shown} is not a directory.`);
}

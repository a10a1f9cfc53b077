import { stat } from 'node:fs/promises';
import { err, type Result } from '@assay-mcp/kit/result';
import type { FolderAccess } from '../access/folder-access.ts';
import type { Fault } from '../fault.ts';

/** The real path of an existing directory that the tools may use. VALIDATION_ERROR, ACCESS_DENIED, NOT_FOUND */
export async function resolveAllowedDirectory(
  access: FolderAccess,
  field: string,
  path: string,
): Promise<Result<string, Fault>> {
  const allowed = await access.allowed(field, path);
  if (!allowed.ok) return allowed;
  const fault = (message: string, code: Fault['code'] = 'VALIDATION_ERROR'): Result<string, Fault> =>
    err({ code, field, message, remedy: 'Pass the absolute path of an existing directory.' });
  const shown = JSON.stringify(path);
  const found = await stat(allowed.value).catch((error: unknown) => error);
  if (found instanceof Error) {
    const code = 'code' in found ? String(found.code) : '';
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? fault(`${shown} does not exist.`, 'NOT_FOUND')
      : fault(`${shown} cannot be read (${code}).`);
  }
  const isDirectory = (found as Awaited<ReturnType<typeof stat>>).isDirectory();
  return isDirectory ? allowed : fault(`${shown} is not a directory.`);
}

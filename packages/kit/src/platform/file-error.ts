/** Why the system refused an operation on a file, as the end of a sentence. */
export function formatFileError(error: unknown): string {
  const code = getErrorCode(error);
  return REASONS.get(code) ?? `the system says ${code}`;
}

export function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'an unknown error';
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['ENOTDIR', 'a part of its path is not a folder'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'the file system is read-only'],
  ['ELOOP', 'its links go round in a circle'],
]);

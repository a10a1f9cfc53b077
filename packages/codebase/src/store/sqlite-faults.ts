import { getErrorCode } from '@assay-mcp/kit/platform/sqlite';
import type { IndexRefusal } from './index-refusal.ts';

/** The refusal for an expected error of SQLite or the file system. Undefined for a bug. */
export function toIndexRefusal(error: unknown, path: string): IndexRefusal | undefined {
  const code = getErrorCode(error);
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) return { code: 'INDEX_DAMAGED', path };
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') return { code: 'DISK_FULL', path };
  const reason = REASONS.find(([codes]) => codes.test(code))?.[1];
  return reason === undefined ? undefined : { code: 'INDEX_UNAVAILABLE', path, reason };
}

/** Whether another connection holds a lock; a retry may succeed. */
export function isLockedError(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(getErrorCode(error));
}

const REASONS: readonly (readonly [codes: RegExp, reason: string])[] = [
  [/^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/, 'another process holds a lock on it'],
  [/^SQLITE_READONLY_DBMOVED/, 'it was moved or deleted while it was in use'],
  [/^SQLITE_READONLY|^EROFS$/, 'it is read-only'],
  [/^SQLITE_(?:PERM|AUTH)|^E(?:ACCES|PERM)$/, 'permission denied'],
  [/^SQLITE_CANTOPEN/, 'it cannot be opened'],
  [/^SQLITE_IOERR|^EIO$/, 'the disk reports an error'],
  [/^SQLITE_NOMEM/, 'there is not enough memory'],
  [/^SQLITE_TOOBIG/, 'a value is too large for it'],
  [/^SQLITE_NOLFS|^EFBIG$/, 'it is too large for the file system'],
  [/^(?:ENOTDIR|EEXIST)$/, 'a part of its path is not a directory'],
  [/^EISDIR$/, 'it is a directory'],
  [/^E(?:MFILE|NFILE)$/, 'too many files are open'],
];

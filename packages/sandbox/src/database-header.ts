// The header of SQLite databases (sqlite.org/fileformat2.html#the_database_header).
import type { StateEntry } from './observation.ts';

const MAGIC = Buffer.from('SQLite format 3\0');
const DATABASE_HEADER_BYTES = 100;
const PAGE_BYTES_AT = 16;
export const VERSIONS_AT: readonly number[] = [18, 19];
export const WAL_VERSION = 2;

export function isDatabase(entry: StateEntry): boolean {
  return headerOf(entry)?.subarray(0, MAGIC.length).equals(MAGIC) === true;
}

/** Whether a file is a SQLite database whose changes go to a write-ahead log. */
export function isWalDatabase(entry: StateEntry | undefined): boolean {
  if (entry === undefined || !isDatabase(entry)) return false;
  const header = headerOf(entry);
  return VERSIONS_AT.every((at) => header?.[at] === WAL_VERSION);
}

function headerOf(entry: StateEntry): Buffer | undefined {
  const start = entry.type === 'file' ? (entry.content ?? entry.start) : undefined;
  return start !== undefined && start.length >= DATABASE_HEADER_BYTES ? start : undefined;
}

/** Undefined if the header is not that of a SQLite database, or the file is not made up of whole pages. */
export function readPageBytes(database: Buffer): number | undefined {
  if (database.length < DATABASE_HEADER_BYTES || !database.subarray(0, MAGIC.length).equals(MAGIC))
    return undefined;
  const stored = database.readUInt16BE(PAGE_BYTES_AT);
  const pageBytes = stored === 1 ? 65_536 : stored;
  const isPowerOfTwo = pageBytes >= 512 && (pageBytes & (pageBytes - 1)) === 0;
  return isPowerOfTwo && database.length % pageBytes === 0 ? pageBytes : undefined;
}

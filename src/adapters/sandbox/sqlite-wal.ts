import { createHash } from 'node:crypto';
import type { StateEntry } from '../../verify/observation.ts';
import type { State } from './state.ts';

const SUFFIX = '-wal';
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Big-endian checksums, or little-endian ones. */
const MAGIC = [0x377f0682, 0x377f0683];
const SALT_OFFSET = 8;
const SALT_BYTES = 8;
const MAX_DATABASE_BYTES = 64 * 1024 * 1024;

type Original = (path: string) => Promise<StateEntry | undefined>;

/**
 * The state with SQLite databases as their readers see them: data that is only in a write-ahead log is committed too.
 * The merged logs are left out.
 */
export async function withDatabaseLogs(state: State, original: Original): Promise<State> {
  const whole = new Map(state);
  for (const [path, log] of state) {
    if (!path.endsWith(SUFFIX)) continue;
    const database = path.slice(0, -SUFFIX.length);
    const entry = state.has(database) ? state.get(database) : await original(database);
    const merged = mergedEntry(entry, log);
    if (merged === undefined) continue;
    whole.set(database, merged);
    whole.delete(path);
  }
  return whole;
}

/** What a path held before the server started; a database has its log merged in. Undefined if it held nothing. */
export async function originalDatabase(path: string, original: Original): Promise<StateEntry | undefined> {
  const entry = await original(path);
  if (entry?.type !== 'file' || path.endsWith(SUFFIX)) return entry;
  return mergedEntry(entry, await original(path + SUFFIX)) ?? entry;
}

function mergedEntry(entry: StateEntry | undefined, log: StateEntry | undefined): StateEntry | undefined {
  if (entry?.type !== 'file' || entry.content === undefined) return undefined;
  if (log?.type !== 'file' || log.content === undefined) return undefined;
  const content = withLog(entry.content, log.content);
  if (content === undefined) return undefined;
  const digest = createHash('sha256').update(content).digest('hex');
  return { ...entry, size: content.length, digest, content };
}

/**
 * A database file with the committed pages of its write-ahead log (sqlite.org/fileformat2.html#walformat). Undefined if
 * the log belongs to another database or contains no commit.
 */
export function withLog(database: Buffer, log: Buffer): Buffer | undefined {
  if (log.length < WAL_HEADER_BYTES || !MAGIC.includes(log.readUInt32BE(0))) return undefined;
  const pageBytes = log.readUInt32BE(8);
  if (pageBytes < 512 || pageBytes > 65_536) return undefined;
  const salt = log.subarray(SALT_OFFSET + 8, SALT_OFFSET + 8 + SALT_BYTES);
  let pages = new Map<number, Buffer>();
  const committed = new Map<number, Buffer>();
  let sizeBytes = 0;
  for (let at = WAL_HEADER_BYTES; at + FRAME_HEADER_BYTES + pageBytes <= log.length;) {
    // Frames of an older log follow those of this one.
    if (!log.subarray(at + SALT_OFFSET, at + SALT_OFFSET + SALT_BYTES).equals(salt)) break;
    const page = log.readUInt32BE(at);
    const pagesAfterCommit = log.readUInt32BE(at + 4);
    at += FRAME_HEADER_BYTES;
    pages.set(page, log.subarray(at, at + pageBytes));
    at += pageBytes;
    if (pagesAfterCommit === 0) continue;
    sizeBytes = pagesAfterCommit * pageBytes;
    for (const [number, content] of pages) committed.set(number, content);
    pages = new Map();
  }
  if (sizeBytes === 0 || sizeBytes > MAX_DATABASE_BYTES) return undefined;
  const whole = Buffer.alloc(sizeBytes);
  database.copy(whole, 0, 0, sizeBytes);
  for (const [number, content] of committed)
    if (number > 0 && number * pageBytes <= sizeBytes) content.copy(whole, (number - 1) * pageBytes);
  return whole;
}

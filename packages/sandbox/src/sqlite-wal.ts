import { createHash } from 'node:crypto';
import type { StateChange, StateEntry } from './observation.ts';
import { isDatabase, isWalDatabase, readPageBytes, VERSIONS_AT, WAL_VERSION } from './database-header.ts';
import { compareEntries } from './state.ts';

/** A file before and after an observation. */
export interface Entries {
  readonly before: StateEntry | undefined;
  readonly after: StateEntry | undefined;
}

const SUFFIX = '-wal';

/**
 * The changes with SQLite databases as their readers see them: what is only in a write-ahead log is committed, too. A
 * server could hide a change behind a log that it wrote itself. So a log counts only if SQLite would accept every byte
 * of it, and the database file is also compared by itself, unless it changed by nothing but a checkpoint.
 */
export async function mergeDatabaseLogs(
  changes: readonly StateChange[],
  entriesAt: (path: string) => Promise<Entries>,
): Promise<readonly StateChange[]> {
  const merged = new Map(changes.map((change) => [change.path, [change] as readonly StateChange[]]));
  for (const base of new Set(changes.map(({ path }) => databaseOf(path)))) {
    const [database, log] = [await entriesAt(base), await entriesAt(base + SUFFIX)];
    const together = changesTogether(base, database, log);
    if (together === undefined) continue;
    merged.set(base, together);
    merged.delete(base + SUFFIX);
  }
  return [...merged.values()].flat();
}

function databaseOf(path: string): string {
  return path.endsWith(SUFFIX) ? path.slice(0, -SUFFIX.length) : path;
}

/** Undefined if these are not a database with its log, but files like any other. */
function changesTogether(path: string, database: Entries, log: Entries): readonly StateChange[] | undefined {
  if (!isPair(database.before, log.before) || !isPair(database.after, log.after)) return undefined;
  if (database.after === undefined || !(isWalDatabase(database.before) || isWalDatabase(database.after)))
    return undefined;
  const own = changeOf(path, database.before, database.after);
  const ofLog = changeOf(path + SUFFIX, log.before, log.after);
  const before = database.before && readerView(database.before, log.before);
  const after = readerView(database.after, log.after);
  if (after === undefined || (before === undefined && database.before !== undefined))
    return [...(own ? [own] : []), ...(ofLog ? [{ ...ofLog, isLog: true as const }] : [])];
  const seen = changeOf(path, before, after);
  const isOwnChange =
    database.before !== undefined && own !== undefined && !isCheckpoint(database, { before, after });
  const found = [...(seen ? [seen] : []), ...(isOwnChange ? [own] : [])];
  if (found.length > 0 || (own === undefined && isEmpty(log.before) && isEmpty(log.after))) return found;
  return own === undefined && ofLog === undefined ? [] : [{ path, kind: 'rewritten' }];
}

/** A change of content. A database is written whenever its log is copied into it, so its time says nothing. */
function changeOf(...entries: Parameters<typeof compareEntries>): StateChange | undefined {
  const change = compareEntries(...entries);
  return change?.kind === 'touched' ? undefined : change;
}

/** Whether a log could belong to the database beside it. */
function isPair(database: StateEntry | undefined, log: StateEntry | undefined): boolean {
  if (database !== undefined && !isDatabase(database)) return false;
  return isEmpty(log) || (log?.type === 'file' && isWalDatabase(database));
}

function isEmpty(log: StateEntry | undefined): boolean {
  return log === undefined || (log.type === 'file' && log.size === 0);
}

/** A database as SQLite reads it. Undefined if its log is not one that SQLite would accept, or cannot be read. */
function readerView(database: StateEntry, log: StateEntry | undefined): StateEntry | undefined {
  if (isEmpty(log)) return database;
  if (database.type !== 'file' || database.content === undefined) return undefined;
  if (log?.type !== 'file' || log.content === undefined) return undefined;
  const content = applyWriteAheadLog(database.content, log.content);
  if (content === undefined) return undefined;
  const digest = createHash('sha256').update(content).digest('hex');
  return { ...database, size: content.length, digest, content };
}

/** Whether each page of the file is one that it had, or one that its readers saw before or see now. */
function isCheckpoint({ before, after }: Entries, views: Entries): boolean {
  const content = contentOf(after);
  const pageBytes = content && readPageBytes(content);
  if (content === undefined || pageBytes === undefined) return false;
  const sources = [before, views.before, views.after].map(contentOf);
  for (let at = 0; at < content.length; at += pageBytes) {
    const page = content.subarray(at, at + pageBytes);
    if (!sources.some((source) => source?.subarray(at, at + pageBytes).equals(page) === true)) return false;
  }
  return true;
}

function contentOf(entry: StateEntry | undefined): Buffer | undefined {
  return entry?.type === 'file' ? entry.content : undefined;
}

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The last bit: whether checksums read big-endian words. */
const LOG_MAGIC = [0x377f0682, 0x377f0683];
const LOG_VERSION = 3_007_000;
const [SALT_AT, SALT_BYTES] = [16, 8];

/**
 * A database file with the committed pages of its write-ahead log (sqlite.org/fileformat2.html#walformat). Undefined
 * unless SQLite would accept every byte: page size, salts and checksums match, and nothing follows the last commit.
 */
export function applyWriteAheadLog(database: Buffer, log: Buffer): Buffer | undefined {
  const pageBytes = readPageBytes(database);
  if (pageBytes === undefined || VERSIONS_AT.some((at) => database[at] !== WAL_VERSION)) return undefined;
  const frames = framesOf(log, pageBytes);
  const last = frames?.at(-1);
  if (frames === undefined || last === undefined || last.pagesAfterCommit === 0) return undefined;
  const sizeBytes = last.pagesAfterCommit * pageBytes;
  // SQLite has written each page to one of the two. A larger size would only take memory.
  if (sizeBytes > database.length + log.length) return undefined;
  const whole = Buffer.alloc(sizeBytes);
  database.copy(whole, 0, 0, sizeBytes);
  for (const { page, content } of frames)
    if (page * pageBytes <= sizeBytes) content.copy(whole, (page - 1) * pageBytes);
  return whole;
}

interface Frame {
  /** From 1. */
  readonly page: number;
  readonly content: Buffer;
  /** Size of the database in pages; 0 for a frame that does not end a transaction. */
  readonly pagesAfterCommit: number;
}

/** Undefined if any byte of the log is not part of a valid frame. */
function framesOf(log: Buffer, pageBytes: number): readonly Frame[] | undefined {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  if (log.length < LOG_HEADER_BYTES + frameBytes || (log.length - LOG_HEADER_BYTES) % frameBytes !== 0)
    return undefined;
  const magic = log.readUInt32BE(0);
  if (!LOG_MAGIC.includes(magic) || log.readUInt32BE(4) !== LOG_VERSION) return undefined;
  if (log.readUInt32BE(8) !== pageBytes) return undefined;
  const sum = new Checksum(magic % 2 === 1);
  sum.add(log.subarray(0, 24));
  if (!sum.isAt(log, 24)) return undefined;
  const salt = log.subarray(SALT_AT, SALT_AT + SALT_BYTES);
  const frames: Frame[] = [];
  for (let at = LOG_HEADER_BYTES; at < log.length; at += frameBytes) {
    const [page, pagesAfterCommit] = [log.readUInt32BE(at), log.readUInt32BE(at + 4)];
    const content = log.subarray(at + FRAME_HEADER_BYTES, at + frameBytes);
    if (page === 0 || !log.subarray(at + 8, at + 8 + SALT_BYTES).equals(salt)) return undefined;
    sum.add(log.subarray(at, at + 8));
    sum.add(content);
    if (!sum.isAt(log, at + 16)) return undefined;
    frames.push({ page, content, pagesAfterCommit });
  }
  return frames;
}

/** The cumulative checksum of a log. */
class Checksum {
  readonly #isBigEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian;
  }

  /** A multiple of 8 bytes. */
  add(bytes: Buffer): void {
    const word = (at: number): number =>
      this.#isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
    for (let at = 0; at < bytes.length; at += 8) {
      this.#first = (this.#first + word(at) + this.#second) >>> 0;
      this.#second = (this.#second + word(at + 4) + this.#first) >>> 0;
    }
  }

  isAt(log: Buffer, at: number): boolean {
    return log.readUInt32BE(at) === this.#first && log.readUInt32BE(at + 4) === this.#second;
  }
}

import { createHash } from 'node:crypto';
import type { NoiseClass, StateChange, StateEntry } from './observation.ts';
import { isByteCode, type Source } from './byte-code.ts';

/** What decides whether a change is noise, besides its path and content. */
export interface NoiseFacts {
  /** Relative to the declared folder, with a leading `/`. */
  readonly path: string;
  /** Whether something was there before the server started. */
  readonly existed: boolean;
  /** Whether the folder belongs to the server: its cache, or one for temporary files. */
  readonly isPrivate: boolean;
  /** The entry beside it to which it belongs by its name: a database, or the source of byte code. */
  readonly source: Source | undefined;
}

const GIT_INDEX = /\/[.]git\/index$/;
const GIT_LOCK = /\/[.]git\/index[.]lock$/;
const GIT_HEAD = /\/[.]git\/(?:ORIG|FETCH)_HEAD$/;
const LOCK = /(?:[.](?:lock|lck|pid)|\/lock(?:file)?)$/i;
const BYTE_CODE = /[.]pyc$/i;
/** A server's record of its own calls counts as a log, also where it is called telemetry. */
const LOG = /\/(?:logs?|_logs)\/|[.]log(?:[.]\d+)?$|\/telemetry[.](?:jsonl|ndjson)$/i;
const BY_NAME: readonly (readonly [NoiseClass, RegExp])[] = [
  ['git_index', GIT_LOCK],
  ['cache', /\/(?:[^/]*[._-]cache|cache|caches|__pycache__|_cacache)(?:\/|$)/i],
  ['log', LOG],
  ['temporary', /[.](?:tmp|temp|swp)$|\/[.]#|~$|\/[.]~lock[.][^/]*$/i],
  ['temporary', LOCK],
];
const CODE =
  /[.](?:[cm]?[jt]sx?|pyw?|rb|php|p[lm]|lua|r|jl|sh|bash|zsh|fish|ps1|bat|cmd|go|rs|c|h|cc|cpp|hpp|java|kts?|scala|swift|cs|fs|exs?|erl|hs|clj|dart|sql|vue|svelte|s?css|html?|so|dll|exe|wasm)$/i;
const DATABASE_COMPANION = /-(?:journal|shm)$/;

/**
 * The harmless purpose of a change, if its content shows that, or, of something that did not exist before the server
 * started, its name. A name alone proves nothing, since servers choose their names. The write-ahead log of a SQLite
 * database holds data, so it is not noise.
 */
export function classifyNoise(change: StateChange, facts: NoiseFacts): NoiseClass | undefined {
  const { path, existed, source } = facts;
  const entries = [change.before, change.after].filter((entry) => entry !== undefined);
  if (GIT_INDEX.test(path)) return isSameIndex(change) ? 'git_index' : undefined;
  if (GIT_HEAD.test(path)) return entries.every(isGitHead) ? 'git_index' : undefined;
  if (LOCK.test(path) && entries.every(isLockContent)) return 'lock';
  if (BYTE_CODE.test(path))
    return !existed && entries.every((one) => isByteCode(one, source)) ? 'byte_code' : undefined;
  if (DATABASE_COMPANION.test(path)) return isCompanion(change, facts) ? 'database' : undefined;
  if (existed) return LOG.test(path) && !CODE.test(path) && isAppended(change) ? 'log' : undefined;
  return classifyNoiseByName(facts);
}

/** The harmless purpose that the name of something new suggests. */
export function classifyNoiseByName({
  path,
  isPrivate,
}: Pick<NoiseFacts, 'path' | 'isPrivate'>): NoiseClass | undefined {
  const isCode = CODE.test(path) && !isPrivate && !path.includes('/node_modules/.cache/');
  return isCode ? undefined : BY_NAME.find(([, pattern]) => pattern.test(path))?.[0];
}

export function isLockName(path: string): boolean {
  return LOCK.test(path);
}

export function isGitIndex(path: string): boolean {
  return GIT_INDEX.test(path) || GIT_LOCK.test(path);
}

/** The database beside which SQLite would keep a file of this name. */
export function findDatabasePath(path: string): string | undefined {
  return /^(.*[^/])-(?:journal|shm|wal)$/.exec(path)?.[1];
}

const MAX_LOCK_BYTES = 32;
const LOCK_CONTENT = /^\s*\d{0,20}\s*$/;

/** An empty file or folder, or the id of a process. */
function isLockContent(entry: StateEntry): boolean {
  if (entry.type === 'folder') return true;
  if (entry.type !== 'file' || entry.size > MAX_LOCK_BYTES) return false;
  return entry.content !== undefined && LOCK_CONTENT.test(entry.content.toString('latin1'));
}

function isGitHead(entry: StateEntry): boolean {
  if (entry.type !== 'file' || entry.content === undefined) return false;
  return /^(?:[0-9a-f]{40,64}(?:\t[^\n]*)?\n)*$/.test(entry.content.toString('latin1'));
}

/** Whether Git refreshed what it knows about files, without another file or version of one in the index. */
function isSameIndex({ before, after }: StateChange): boolean {
  if (before?.type !== 'file' || after?.type !== 'file') return false;
  return (
    before.content !== undefined &&
    after.content !== undefined &&
    hasSameEntries(before.content, after.content)
  );
}

function isAppended({ before, after }: StateChange): boolean {
  if (before?.type !== 'file' || after?.type !== 'file') return false;
  const [old, now] = [before.content, after.content];
  return old !== undefined && now?.subarray(0, old.length).equals(old) === true;
}

const JOURNAL_HEADER_BYTES = 28;

/**
 * Files that SQLite keeps beside an open database. A journal that is left with its header would be rolled back, which
 * changes the database.
 */
function isCompanion({ before, after }: StateChange, { path, existed, source }: NoiseFacts): boolean {
  if (source?.isDatabase !== true) return false;
  if (path.endsWith('-shm'))
    return !existed || [before, after].every((one) => one === undefined || isLogIndex(one));
  if (existed) return false;
  if (after === undefined) return true;
  if (after.type !== 'file') return false;
  const start = after.content ?? after.start;
  return start?.subarray(0, JOURNAL_HEADER_BYTES).every((byte) => byte === 0) === true;
}

const LOG_INDEX_VERSION = 3_007_000;

/** Whether a file is the index of a write-ahead log, which SQLite makes again whenever it needs one. */
function isLogIndex(entry: StateEntry): boolean {
  const start = entry.type === 'file' ? (entry.content ?? entry.start) : undefined;
  return (
    start !== undefined &&
    start.length >= 52 &&
    [0, 48].every((at) => start.readUInt32LE(at) === LOG_INDEX_VERSION)
  );
}

const HEADER_BYTES = 12;
/** Times, device, inode, owner and size, as Git last saw the file. */
const STAT_BYTES = 40;
const MODE_AT = 24;
const EXTENDED = 0x4000;

/**
 * Whether two Git index files (git-scm.com/docs/index-format) list the same versions of the same files, whatever they
 * know about the files on disk. False if one is not a whole index of version 2 or 3.
 */
export function hasSameEntries(one: Buffer, other: Buffer): boolean {
  const entries = readIndexEntries(one);
  return entries !== undefined && entries === readIndexEntries(other);
}

function readIndexEntries(index: Buffer): string | undefined {
  return readEntries(index, 'sha1', 20) ?? readEntries(index, 'sha256', 32);
}

function readEntries(index: Buffer, algorithm: string, hashBytes: number): string | undefined {
  const end = index.length - hashBytes;
  if (end < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  if (![2, 3].includes(index.readUInt32BE(4))) return undefined;
  const sum = createHash(algorithm).update(index.subarray(0, end)).digest();
  if (!sum.equals(index.subarray(end))) return undefined;
  const entries: string[] = [];
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 2 > end) return undefined;
    const nameAt = flagsAt + ((index.readUInt16BE(flagsAt) & EXTENDED) === 0 ? 2 : 4);
    const nameEnd = index.indexOf(0, nameAt);
    if (nameEnd < 0 || nameEnd >= end) return undefined;
    const mode = index.toString('hex', at + MODE_AT, at + MODE_AT + 4);
    entries.push(`${mode} ${index.toString('hex', at + STAT_BYTES, nameEnd)}`);
    // Padded with one to eight zero bytes.
    at += Math.ceil((nameEnd + 1 - at) / 8) * 8;
  }
  return at <= end ? entries.join('\n') : undefined;
}

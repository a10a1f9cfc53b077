import { join } from 'node:path';
import { readBytes } from './read-source.ts';

/** The files that git tracks in one working tree: ignore rules do not apply to them. */
export interface TrackedFiles {
  /** `path` is relative to the root of the working tree; that of a directory ends with a slash. */
  has(path: string): boolean;
}

/** 100,000 files take about 10 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
const HEADER_BYTES = 12;
/** Times, device, inode, mode, owner and size; then the hash and two bytes of flags. */
const FACTS_BYTES = 40;
const EXTENDED = 0x4000;
const NAME_LENGTH = 0xfff;
/** Version 4 shares the starts of names, so that a small file could hold very long ones. */
const MAX_NAME_BYTES = 4_096;

/** Undefined if the directory is not a working tree, or its index cannot be read or has a format that git does not write. */
export function readTrackedFiles(gitDirectory: string): TrackedFiles | undefined {
  const read = readBytes(join(gitDirectory, 'index'), MAX_BYTES);
  const paths = read.ok ? parseGitIndex(read.bytes) : undefined;
  if (paths === undefined) return undefined;
  const known = new Set<string>();
  for (const path of paths) {
    known.add(path);
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const directory = path.slice(0, at + 1);
      if (known.has(directory)) break;
      known.add(directory);
    }
  }
  return known;
}

/** The paths of an index of version 2, 3 or 4 (git, Documentation/gitformat-index). */
export function parseGitIndex(bytes: Buffer): readonly string[] | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  for (const hashBytes of [20, 32]) {
    const paths = readEntries(bytes, { version, count, hashBytes });
    if (paths !== undefined) return paths;
  }
  return undefined;
}

interface Format {
  readonly version: number;
  readonly count: number;
  /** 20 for SHA-1, 32 for SHA-256; the file does not say which. */
  readonly hashBytes: number;
}

/** Undefined if an entry does not have this format. */
function readEntries(bytes: Buffer, { version, count, hashBytes }: Format): readonly string[] | undefined {
  const paths: string[] = [];
  let allBytes = 0;
  let previous = Buffer.alloc(0);
  let at = HEADER_BYTES;
  for (let number = 0; number < count; number += 1) {
    const start = at;
    at += FACTS_BYTES + hashBytes;
    if (at + 2 > bytes.length) return undefined;
    const flags = bytes.readUInt16BE(at);
    at += flags & EXTENDED ? 4 : 2;
    let kept = Buffer.alloc(0);
    if (version === 4) {
      const removed = readOffset(bytes, at);
      if (removed === undefined || removed.value > previous.length) return undefined;
      kept = previous.subarray(0, previous.length - removed.value);
      at = removed.end;
    }
    const end = bytes.indexOf(0, at);
    if (end < 0) return undefined;
    const name = Buffer.concat([kept, bytes.subarray(at, end)]);
    const length = flags & NAME_LENGTH;
    allBytes += name.length;
    if (name.length > MAX_NAME_BYTES || allBytes > MAX_BYTES) return undefined;
    if (name.length === 0 || (length < NAME_LENGTH && name.length !== length)) return undefined;
    paths.push(name.toString());
    previous = name;
    // Up to version 3, entries are padded with null bytes to a multiple of eight.
    at = version === 4 ? end + 1 : start + Math.ceil((end + 1 - start) / 8) * 8;
  }
  return paths;
}

/** A number as in pack files: seven bits in each byte, and one added for each further byte. */
function readOffset(
  bytes: Buffer,
  from: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let at = from; at < bytes.length && at < from + 5; at += 1) {
    const byte = bytes.readUInt8(at);
    value = (at === from ? 0 : (value + 1) * 128) + (byte & 0x7f);
    if ((byte & 0x80) === 0) return { value, end: at + 1 };
  }
  return undefined;
}

import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import type { SkipReason } from './skip-reason.ts';

export type ReadBytes =
  | { readonly ok: true; readonly bytes: Buffer; readonly size: number; readonly mtimeMs: number }
  | { readonly ok: false; readonly reason: SkipReason };

export interface DecodedText {
  /** Line breaks are `\n`. */
  readonly text: string;
  /** `latin1`: the bytes are not UTF-8, so each was read as one character. */
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';
}

const ATTEMPTS = 2;

/**
 * Reads a whole regular file at a real path. If it changes meanwhile, it is read once more, then given up. A folder of the
 * path that has become a link since it was found is not followed.
 */
export function readBytes(path: string, maxBytes: number): ReadBytes {
  let fd: number;
  try {
    // Opening a FIFO would wait for its writer, and a link may have taken the file's place since it was found.
    // On Windows, which has neither, these flags are undefined, which adds nothing.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    const isLink = error instanceof Error && 'code' in error && error.code === 'ELOOP';
    return { ok: false, reason: isLink ? 'symlink' : 'unreadable' };
  }
  try {
    if (resolveOpenedPath(fd, path) !== path) return { ok: false, reason: 'symlink' };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const read = readOpened(fd, maxBytes);
      if (read !== undefined) return read;
    }
    return { ok: false, reason: 'changing' };
  } catch {
    return { ok: false, reason: 'unreadable' };
  } finally {
    closeSync(fd);
  }
}

/** Undefined if there is nothing at this path, or it cannot be looked at, as below a file. Does not follow a link. */
export function readEntry(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** The real path of an open file; on Linux it cannot be changed in between. */
export function resolveOpenedPath(fd: number, path: string): string {
  if (process.platform !== 'linux') return realpathSync.native(path);
  return readlinkSync(`/proc/self/fd/${fd}`);
}

/** Undefined if the file changed meanwhile. */
function readOpened(fd: number, maxBytes: number): ReadBytes | undefined {
  const before = fstatSync(fd);
  if (!before.isFile()) return { ok: false, reason: 'special_file' };
  if (before.size > maxBytes) return { ok: false, reason: 'too_large' };
  // One extra byte, to detect a file that grew.
  const buffer = Buffer.allocUnsafe(before.size + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < buffer.length; length += count)
    count = readSync(fd, buffer, length, buffer.length - length, length);
  if (length !== before.size || hasChanged(before, fstatSync(fd))) return undefined;
  return { ok: true, bytes: buffer.subarray(0, length), size: before.size, mtimeMs: before.mtimeMs };
}

function hasChanged(before: Stats, after: Stats): boolean {
  return before.size !== after.size || before.mtimeMs !== after.mtimeMs || before.ctimeMs !== after.ctimeMs;
}

/** SHA-256 in hexadecimal. */
export function hashContent(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex');
}

/** Returns undefined for a binary file. */
export function decodeText(bytes: Buffer): DecodedText | undefined {
  const decoded = decode(bytes);
  if (decoded === undefined) return undefined;
  const { text, encoding } = decoded;
  return { text: text.includes('\r') ? text.replaceAll('\r\n', '\n') : text, encoding };
}

function decode(bytes: Buffer): DecodedText | undefined {
  const [first, second, third] = bytes;
  if (first === 0xff && second === 0xfe) return utf16(bytes, 'utf-16le');
  if (first === 0xfe && second === 0xff) return utf16(bytes, 'utf-16be');
  if (bytes.includes(0) || hasManyControls(bytes)) return undefined;
  if (isUtf8(bytes)) {
    const start = first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0;
    return { text: bytes.toString('utf8', start), encoding: 'utf-8' };
  }
  return { text: bytes.toString('latin1'), encoding: 'latin1' };
}

function utf16(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): DecodedText | undefined {
  const text = new TextDecoder(encoding).decode(bytes);
  return text.includes('\0') ? undefined : { text, encoding };
}

/** Text has hardly any control characters except white space, whatever its encoding. */
function hasManyControls(bytes: Buffer): boolean {
  let controls = 0;
  for (const byte of bytes) if (byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0x1b) controls += 1;
  return controls * 100 > bytes.length;
}

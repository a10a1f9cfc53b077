import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { getErrorCode, formatFileError } from './file-error.ts';

interface ReadFault {
  /** Of the system, such as ENOENT; empty for a fault of the content. */
  readonly code: string;
  /** The end of a sentence: "there is no such file". */
  readonly reason: string;
}

export interface ReadBytes {
  readonly bytes: Buffer;
  readonly facts: Stats;
}

type Outcome<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ReadFault };

type Read = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly error: string };

/** Opening a FIFO would wait for its writer. Undefined on Windows, which adds nothing. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
/** Limit for files that people and programs write by hand: configs, bundles, toolsets, lists of variables. */
export const MAX_TEXT_BYTES: number = 64 * 1024 * 1024;

/**
 * Reads a file that others may have placed: a regular file of at most `maxBytes`, checked on the open file. Anything else
 * may never end or block.
 */
export async function readBytesWithin(path: string, maxBytes: number): Promise<Outcome<ReadBytes>> {
  try {
    const file = await open(path, READ);
    try {
      const facts = await file.stat();
      const fault = faultOf(facts, maxBytes);
      if (fault !== undefined) return failed(fault);
      const buffer = Buffer.allocUnsafe(facts.size + 1);
      let length = 0;
      for (let count = -1; count !== 0 && length < buffer.length; length += count)
        ({ bytesRead: count } = await file.read(buffer, length, buffer.length - length, length));
      return length > facts.size
        ? failed('it grew while it was read')
        : { ok: true, value: { bytes: buffer.subarray(0, length), facts } };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { ok: false, error: { code: getErrorCode(error), reason: formatFileError(error) } };
  }
}

/** The same, synchronously, where no other event may come first. */
export function readBytesWithinNow(path: string, maxBytes: number): Outcome<ReadBytes> {
  try {
    const fd = openSync(path, READ);
    try {
      const facts = fstatSync(fd);
      const fault = faultOf(facts, maxBytes);
      if (fault !== undefined) return failed(fault);
      const buffer = Buffer.allocUnsafe(facts.size + 1);
      let length = 0;
      for (let count = -1; count !== 0 && length < buffer.length; length += count)
        count = readSync(fd, buffer, length, buffer.length - length, length);
      return length > facts.size
        ? failed('it grew while it was read')
        : { ok: true, value: { bytes: buffer.subarray(0, length), facts } };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return { ok: false, error: { code: getErrorCode(error), reason: formatFileError(error) } };
  }
}

/** The text of such a file in UTF-8, without a byte order mark. The error is a phrase. */
export async function readTextWithin(path: string, maxBytes: number): Promise<Read> {
  return textOf(await readBytesWithin(path, maxBytes));
}

/** The same, synchronously, for small files that are read at start. */
export function readTextWithinNow(path: string, maxBytes: number): Read {
  return textOf(readBytesWithinNow(path, maxBytes));
}

const ABSENT = 'there is no such file, or it may not be read';

function textOf(read: Outcome<ReadBytes>): Read {
  // Whether a file exists is not said: paths may come from a client of the REST API.
  if (!read.ok) return { ok: false, error: read.error.code === '' ? read.error.reason : ABSENT };
  const { bytes } = read.value;
  return isUtf8(bytes)
    ? { ok: true, value: bytes.toString('utf8').replace(/^\uFEFF/, '') }
    : { ok: false, error: 'it is not UTF-8 text' };
}

function failed(reason: string): Outcome<never> {
  return { ok: false, error: { code: '', reason } };
}

function faultOf(facts: Stats, maxBytes: number): string | undefined {
  if (facts.isDirectory()) return 'it is a folder';
  if (!facts.isFile()) return 'it is not a regular file';
  return facts.size > maxBytes ? `it has more than ${maxBytes} bytes` : undefined;
}

import { createHash } from 'node:crypto';

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
  const entries = entriesOf(one);
  return entries !== undefined && entries === entriesOf(other);
}

function entriesOf(index: Buffer): string | undefined {
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

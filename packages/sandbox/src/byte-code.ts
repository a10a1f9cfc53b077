import type { StateEntry } from './observation.ts';

/** The file to which another one beside it belongs. */
export interface Source {
  readonly size: number;
  readonly mtimeMs: number;
  /** Absent if it is too large. */
  readonly content: Buffer | undefined;
  /** Whether it is a SQLite database. */
  readonly isDatabase: boolean;
}

const HEADER_BYTES = 16;
const FLAGS_AT = 4;
const BY_HASH = 1;

/** The source of a Python byte code file, by its path: `a/__pycache__/b.cpython-311.pyc` is `a/b.py`. */
export function findByteCodeSource(path: string): string | undefined {
  const [, folder, name] = /^(.*\/)__pycache__\/([^/]+?)[.][^/.]+(?:[.]opt-\d)?[.]pyc$/.exec(path) ?? [];
  if (name !== undefined) return `${folder}${name}.py`;
  return path.endsWith('.pyc') ? path.slice(0, -1) : undefined;
}

/** Whether the header of a byte code file names the size and time of its source, or its hash (PEP 552). */
export function isByteCode(entry: StateEntry, source: Source | undefined): boolean {
  const start = entry.type === 'file' ? (entry.content ?? entry.start) : undefined;
  if (start === undefined || start.length < HEADER_BYTES || source === undefined) return false;
  if ((start.readUInt32LE(FLAGS_AT) & BY_HASH) === 0) {
    const seconds = Math.floor(source.mtimeMs / 1_000);
    return (
      start.readUInt32LE(FLAGS_AT) === 0 &&
      start.readUInt32LE(8) === (seconds & 0xffff_ffff) >>> 0 &&
      start.readUInt32LE(12) === (source.size & 0xffff_ffff) >>> 0
    );
  }
  const { content } = source;
  if (content === undefined) return false;
  const hash = start.readBigUInt64LE(8);
  const key = BigInt(start.readUInt32LE(0));
  // Python 3.11 made the hash faster.
  return hash === sipHash(key, content, 1, 3) || hash === sipHash(key, content, 2, 4);
}

const MASK = 0xffff_ffff_ffff_ffffn;
const rotated = (value: bigint, by: bigint): bigint => ((value << by) | (value >> (64n - by))) & MASK;

/** SipHash with the second half of the key zero, as Python hashes sources. */
function sipHash(key: bigint, data: Buffer, rounds: number, lastRounds: number): bigint {
  let [a, b] = [key ^ 0x736f_6d65_7073_6575n, 0x646f_7261_6e64_6f6dn];
  let [c, d] = [key ^ 0x6c79_6765_6e65_7261n, 0x7465_6462_7974_6573n];
  const mix = (times: number): void => {
    for (let round = 0; round < times; round += 1) {
      a = (a + b) & MASK;
      b = rotated(b, 13n) ^ a;
      a = rotated(a, 32n);
      c = (c + d) & MASK;
      d = rotated(d, 16n) ^ c;
      a = (a + d) & MASK;
      d = rotated(d, 21n) ^ a;
      c = (c + b) & MASK;
      b = rotated(b, 17n) ^ c;
      c = rotated(c, 32n);
    }
  };
  const rest = Buffer.alloc(8 * Math.floor(data.length / 8) + 8);
  data.copy(rest);
  rest[rest.length - 1] = data.length & 255;
  for (let at = 0; at < rest.length; at += 8) {
    const word = rest.readBigUInt64LE(at);
    d ^= word;
    mix(rounds);
    a ^= word;
  }
  c ^= 0xffn;
  mix(lastRounds);
  return a ^ b ^ c ^ d;
}

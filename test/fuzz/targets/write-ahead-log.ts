import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { applyWriteAheadLog } from '@assay-mcp/sandbox/sqlite-wal';

const PAGE_BYTES = 512;
const MAX_FRAMES = 8;
const [HEADER_BYTES, FRAME_HEADER_BYTES] = [32, 24];
const DATABASE = database();

/** A write-ahead log is not believed, or gives the same pages as in SQLite. */
export function fuzz(bytes: Buffer): void {
  const log = logOf(new Input(bytes));
  const merged = applyWriteAheadLog(DATABASE, log);
  const read = merged && checkpointed(log);
  if (read !== undefined) assert.ok(merged?.equals(read), 'SQLite reads other pages');
}

function database(): Buffer {
  return inFolder((path) => {
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; CREATE TABLE a (b)`);
    for (let row = 0; row < 20; row += 1) db.prepare('INSERT INTO a VALUES (?)').run('x'.repeat(100));
    db.close();
    return readFileSync(path);
  });
}

/** What SQLite makes of the database and the log; undefined if it finds them corrupt. */
function checkpointed(log: Buffer): Buffer | undefined {
  return inFolder((path) => {
    writeFileSync(path, DATABASE);
    writeFileSync(`${path}-wal`, log);
    const db = new DatabaseSync(path);
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      return undefined;
    } finally {
      db.close();
    }
    return readFileSync(path);
  });
}

function inFolder<T>(use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'assay-fuzz-'));
  try {
    return use(join(folder, 'a.db'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A log with valid checksums, of which some bytes are then changed: random bytes alone would never have any. */
function logOf(input: Input): Buffer {
  const kinds = input.byte();
  const [isBigEndian, isCut] = [(kinds & 1) !== 0, (kinds & 2) !== 0];
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(0x377f0682 + Number(isBigEndian), 0);
  header.writeUInt32BE(3_007_000, 4);
  header.writeUInt32BE((kinds & 4) === 0 ? PAGE_BYTES : 1_024, 8);
  header.fill(kinds, 16, 24);
  let sums = sumsAfter([0, 0], header.subarray(0, 24), isBigEndian);
  header.writeUInt32BE(sums[0], 24);
  header.writeUInt32BE(sums[1], 28);
  const parts = [header];
  const frames = input.byte() % MAX_FRAMES;
  for (let number = 0; number < frames; number += 1) {
    const frame = Buffer.alloc(FRAME_HEADER_BYTES + PAGE_BYTES);
    const page = input.byte() % 16;
    frame.writeUInt32BE(page, 0);
    frame.writeUInt32BE(input.byte() % 16, 4);
    header.copy(frame, 8, 16, 24);
    DATABASE.subarray(Math.max(0, page - 1) * PAGE_BYTES, page * PAGE_BYTES).copy(frame, FRAME_HEADER_BYTES);
    for (let changes = input.byte() % 4; changes > 0; changes -= 1)
      frame[FRAME_HEADER_BYTES + (input.word() % PAGE_BYTES)] = input.byte();
    sums = sumsAfter(sums, frame.subarray(0, 8), isBigEndian);
    sums = sumsAfter(sums, frame.subarray(FRAME_HEADER_BYTES), isBigEndian);
    frame.writeUInt32BE(sums[0], 16);
    frame.writeUInt32BE(sums[1], 20);
    parts.push(frame);
  }
  const log = Buffer.concat(parts);
  for (let changes = input.byte() % 3; changes > 0; changes -= 1)
    log[input.word() % log.length] = input.byte();
  return isCut ? log.subarray(0, input.word() % (log.length + 1)) : log;
}

type Sums = readonly [number, number];

function sumsAfter([first, second]: Sums, bytes: Buffer, isBigEndian: boolean): Sums {
  let sums: Sums = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    const [one, other] = isBigEndian
      ? [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
      : [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    const next = (sums[0] + one + sums[1]) >>> 0;
    sums = [next, (sums[1] + other + next) >>> 0];
  }
  return sums;
}

/** Reads bytes one after the other; zeros beyond the end. */
class Input {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#bytes[this.#at++] ?? 0;
  }

  word(): number {
    return this.byte() * 256 + this.byte();
  }
}

// Write-ahead logs as SQLite writes them (sqlite.org/fileformat2.html#walformat).

/** A valid log that commits these pages, numbered from 1. */
export function logOf(pages: readonly (readonly [number, Buffer])[], sizeInPages: number): Buffer {
  const pageBytes = pages[0]?.[1].length ?? 512;
  const header = Buffer.alloc(32);
  const words = [0x377f0682, 3007000, pageBytes, 0, 0x12345678, 0x9abcdef0];
  for (const [at, word] of words.entries()) header.writeUInt32BE(word, at * 4);
  let sum = checksum(header.subarray(0, 24), [0, 0]);
  header.writeUInt32BE(sum[0], 24);
  header.writeUInt32BE(sum[1], 28);
  const frames = pages.map(([number, content], at) => {
    const frame = Buffer.alloc(24 + pageBytes);
    frame.writeUInt32BE(number, 0);
    frame.writeUInt32BE(at === pages.length - 1 ? sizeInPages : 0, 4);
    header.copy(frame, 8, 16, 24);
    content.copy(frame, 24);
    sum = checksum(content, checksum(frame.subarray(0, 8), sum));
    frame.writeUInt32BE(sum[0], 16);
    frame.writeUInt32BE(sum[1], 20);
    return frame;
  });
  return Buffer.concat([header, ...frames]);
}

/** Little-endian, as the first magic number says. */
function checksum(bytes: Buffer, [first, second]: readonly [number, number]): readonly [number, number] {
  let [one, two] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + bytes.readUInt32LE(at) + two) >>> 0;
    two = (two + bytes.readUInt32LE(at + 4) + one) >>> 0;
  }
  return [one, two];
}

/** The pages of a database file, numbered from 1. */
export function pagesOf(database: Buffer): readonly (readonly [number, Buffer])[] {
  const pageBytes = database.readUInt16BE(16) || 65_536;
  return Array.from({ length: database.length / pageBytes }, (_, at) => [
    at + 1,
    database.subarray(at * pageBytes, (at + 1) * pageBytes),
  ]);
}

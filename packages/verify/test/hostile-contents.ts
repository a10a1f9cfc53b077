// Files by which a server tries to stall the process that compares them, or to take its memory.
import { readColumn, useCopy, writeDatabase } from '../../../test/support/sqlite.ts';

export interface Contents {
  readonly before: Buffer;
  readonly after: Buffer;
}

/** A database before and after one more row in a table of its own. */
function database(sql: string): Contents {
  const before = writeDatabase(`create table plain (v); insert into plain values (1); ${sql}`);
  return { before, after: writeDatabase('insert into plain values (2)', before) };
}

const ENDLESS = 'with recursive c(x) as (select 1 union all select x + 1 from c)';

const PAGE_BYTES = 4096;
const CELLS = 7;
const LEAVES = 250;

/** A table of 1,750 rows that all have the same three megabytes. */
function sharedOverflow(): Contents {
  // With this length, the part on the page of the row is as short as it can be: 489 bytes.
  const bytes = 489 + 4092 * 760 - 5;
  const made = writeDatabase(
    `pragma page_size = ${PAGE_BYTES}; create table t (v); insert into t values (zeroblob(${bytes}))`,
  );
  const at = (findRoot(made) - 1) * PAGE_BYTES;
  const leaf = made.subarray(at, at + PAGE_BYTES);
  const cell = leaf.subarray(leaf.readUInt16BE(8));
  const sizeBytes = 4; // The varint of the payload's size, which the rowid follows.
  const [start, rest] = [cell.subarray(0, sizeBytes), cell.subarray(sizeBytes + 1)];
  const leaves = Array.from({ length: LEAVES }, (_, page) => {
    const cells = Array.from({ length: CELLS }, (_unused, n) =>
      Buffer.concat([start, varint(page * CELLS + n + 1), rest]),
    );
    const offsets = cells.map(
      (_unused, n) => PAGE_BYTES - cells.slice(0, n + 1).reduce((sum, one) => sum + one.length, 0),
    );
    return pageOf({ type: 13, cells, offsets });
  });
  const first = made.length / PAGE_BYTES + 1;
  const children = leaves
    .slice(0, -1)
    .map((_, n) => Buffer.concat([uint32(first + n), varint((n + 1) * CELLS)]));
  const offsets = children.map(
    (_, n) => PAGE_BYTES - children.slice(0, n + 1).reduce((sum, one) => sum + one.length, 0),
  );
  const before = Buffer.concat([made, ...leaves]);
  pageOf({ type: 5, cells: children, offsets, right: first + LEAVES - 1 }).copy(before, at);
  before.writeUInt32BE(before.length / PAGE_BYTES, 28);
  const after = Buffer.from(before);
  after.writeUInt32BE(1, 60); // The application's own version number.
  return { before, after };
}

/** The first page of the only table. */
function findRoot(content: Buffer): number {
  return useCopy(content, (opened) => Number(readColumn(opened, 'select rootpage from sqlite_schema')[0]));
}

interface Page {
  readonly type: number;
  readonly cells: readonly Buffer[];
  readonly offsets: readonly number[];
  readonly right?: number;
}

function pageOf({ type, cells, offsets, right }: Page): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  page.writeUInt8(type, 0);
  page.writeUInt16BE(cells.length, 3);
  page.writeUInt16BE(offsets.at(-1) ?? 0, 5);
  if (right !== undefined) page.writeUInt32BE(right, 8);
  const pointersAt = right === undefined ? 8 : 12;
  for (const [n, cell] of cells.entries()) {
    page.writeUInt16BE(offsets[n] ?? 0, pointersAt + 2 * n);
    cell.copy(page, offsets[n]);
  }
  return page;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Below 2^14. */
function varint(value: number): Buffer {
  return value < 128 ? Buffer.from([value]) : Buffer.from([0x80 | (value >> 7), value & 0x7f]);
}

/** A table whose page has itself as a child. */
function loop(): Contents {
  const before = writeDatabase(
    `create table t (v); insert into t select hex(zeroblob(900)) from (${ENDLESS} select x from c limit 50)`,
  );
  const root = findRoot(before);
  const at = (root - 1) * PAGE_BYTES;
  for (let n = 0; n < before.readUInt16BE(at + 3); n += 1)
    before.writeUInt32BE(root, at + before.readUInt16BE(at + 12 + 2 * n));
  const after = Buffer.from(before);
  after.writeUInt32BE(1, 60);
  return { before, after };
}

/** Similar arrays, `depth` levels deep, which differ in their last element. */
function similar(depth: number, last: number): readonly unknown[] {
  const own = (at: number): unknown => (depth === 1 ? 0 : similar(depth - 1, at));
  return [...Array.from({ length: WIDTH - 1 }, (_, at) => own(at)), depth === 1 ? last : own(WIDTH + last)];
}

const WIDTH = 80;

/** The same arrays in another order at each level. */
function reversed(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const own = value.map(reversed);
  return typeof own[0] === 'number' ? own : own.toReversed();
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Whose comparison is expected to succeed, since nothing of the schema is evaluated. */
export const HARMLESS: Readonly<Record<string, () => Contents>> = {
  'a generated column of 400 MB': () =>
    database(
      `create table g (a); insert into g values (1), (2), (3), (4);
      alter table g add column b as (hex(zeroblob(200000000)))`,
    ),
  'a full-text index over an endless view': () =>
    database(
      `create view w as ${ENDLESS} select x as rowid, x as body from c where x < 0;
      create virtual table f using fts5 (body, content = 'w', content_rowid = 'rowid')`,
    ),
  'a full-text index over a view of endless text': () =>
    database(
      `create view w as ${ENDLESS} select x as rowid, hex(zeroblob(100000)) as body from c;
      create virtual table f using fts5 (body, content = 'w', content_rowid = 'rowid')`,
    ),
  'an endless view, and a trigger on it': () =>
    database(
      `create view w as ${ENDLESS} select x from c;
      create trigger r instead of insert on w begin insert into plain select x from w; end`,
    ),
  'a virtual table over all pages': () => database('create virtual table d using dbstat'),
};

/** Whose comparison is expected to fail. */
export const HARMFUL: Readonly<Record<string, () => Contents>> = {
  'rows that share three megabytes': sharedOverflow,
  'a table whose page has itself as a child': loop,
  'JSON in which any array may be any other': () => ({
    before: json(similar(3, 0)),
    after: json(reversed(similar(3, 0))),
  }),
  'JSON of a million levels': () => ({
    before: Buffer.from('['.repeat(1_000_000) + '1' + ']'.repeat(1_000_000)),
    after: Buffer.from('['.repeat(1_000_000) + '2' + ']'.repeat(1_000_000)),
  }),
};

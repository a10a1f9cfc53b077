import Database from 'better-sqlite3';
import { parsedJson } from '../../core/json-object.ts';
import { compareJson, isGrowingCounter, isTimeUpdate, type JsonComparison } from './compare-json.ts';

const MAGIC = Buffer.from('SQLite format 3\0');
const MAX_ROWS = 50_000;
/** Offsets of the read and write versions in the header: 2 is WAL, which an in-memory database cannot have. */
const VERSION_OFFSETS = [18, 19];

export function isSqlite(content: Buffer): boolean {
  return content.length >= 100 && content.subarray(0, MAGIC.length).equals(MAGIC);
}

type Row = Readonly<Record<string, unknown>>;
type Tables = ReadonlyMap<string, ReadonlyMap<string, Row>>;

interface Content {
  readonly tables: Tables;
  /** The statements that define them, which may be extended. */
  readonly definitions: string;
}

/** Compares the rows of two database files. Undefined if one cannot be read or is too large. */
export function compareSqlite(before: Buffer, after: Buffer): JsonComparison | undefined {
  const [old, now] = [contentOf(before), contentOf(after)];
  if (old === undefined || now === undefined) return undefined;
  let isAdditive = true;
  let isTimestamps = sizeOf(old.tables) === sizeOf(now.tables) && old.definitions === now.definitions;
  for (const [table, rows] of old.tables)
    for (const [id, row] of rows) {
      const compared = compareRows(row, now.tables.get(table)?.get(id));
      isAdditive &&= compared.isAdditive;
      isTimestamps &&= compared.isTimestamps;
    }
  return { isAdditive, isTimestamps };
}

const LOST: JsonComparison = { isAdditive: false, isTimestamps: false };
const KEPT: JsonComparison = { isAdditive: true, isTimestamps: true };

function compareRows(before: Row, after: Row | undefined): JsonComparison {
  if (after === undefined) return LOST;
  const columns = Object.entries(before).map(([name, value]) => compareValues(value, after[name], name));
  return {
    isAdditive: columns.every(({ isAdditive }) => isAdditive),
    isTimestamps: columns.every(({ isTimestamps }) => isTimestamps),
  };
}

function compareValues(before: unknown, after: unknown, column: string): JsonComparison {
  if (isSame(before, after) || isTimeUpdate(before, after, column)) return KEPT;
  if (before === null) return { isAdditive: true, isTimestamps: false };
  if (isGrowingCounter(before, after, column)) return { isAdditive: true, isTimestamps: false };
  const [old, now] = [documentOf(before), documentOf(after)];
  return old === undefined || now === undefined ? LOST : compareJson(old, now);
}

/** The JSON object or array in a text. */
function documentOf(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined;
  return parsedJson(value);
}

function isSame(one: unknown, other: unknown): boolean {
  return Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : one === other;
}

function sizeOf(tables: Tables): number {
  return [...tables.values()].reduce((sum, rows) => sum + rows.size, tables.size);
}

/** Reads all tables and definitions except those that a full-text index maintains itself. */
function contentOf(content: Buffer): Content | undefined {
  const copy = Buffer.from(content);
  for (const offset of VERSION_OFFSETS) copy[offset] = 1;
  let database: Database.Database | undefined;
  try {
    database = new Database(copy);
    // The server wrote the schema.
    database.pragma('trusted_schema = off');
    database.pragma('cell_size_check = on');
    const names = database
      .prepare<[], string>(
        `select name from pragma_table_list where schema = 'main' and type in ('table', 'virtual')
         and name not like 'sqlite!_%' escape '!'
         and name not in (select name from sqlite_schema where sql like '% using fts5vocab%')`,
      )
      .pluck()
      .all();
    let room = MAX_ROWS;
    const { definitions, parts } = schemaOf(database);
    const tables = new Map<string, ReadonlyMap<string, Row>>([[SCHEMA, parts]]);
    for (const name of names) {
      const rows = rowsOf(database, name, room);
      room -= rows.size;
      if (room <= 0) return undefined;
      tables.set(name, rows);
    }
    return { tables, definitions };
  } catch {
    return undefined;
  } finally {
    database?.close();
  }
}

/** The place of the schema among the tables, none of which has an empty name. */
const SCHEMA = '';

/** `parts`: tables, which may be extended, and indexes, views and triggers with their definitions. */
function schemaOf(database: Database.Database): {
  readonly definitions: string;
  readonly parts: ReadonlyMap<string, Row>;
} {
  const rows = database
    .prepare<[number], Record<'type' | 'name' | 'sql', string | null>>(
      'select type, name, sql from sqlite_schema order by type, name limit ?',
    )
    .all(MAX_ROWS);
  return {
    definitions: rows.map(({ sql }) => sql ?? '').join('\n'),
    parts: new Map(
      rows.map(({ type, name, sql }) => [`${type} ${name}`, type === 'table' ? { type } : { sql }]),
    ),
  };
}

/** Rows by rowid; those of a table without rowids by their values. */
function rowsOf(database: Database.Database, table: string, limit: number): ReadonlyMap<string, Row> {
  const quoted = `"${table.replaceAll('"', '""')}"`;
  const key = '__assay_rowid';
  const all = (columns: string): readonly Row[] =>
    database.prepare<[number], Row>(`select ${columns} from ${quoted} limit ?`).all(limit);
  try {
    return new Map(all(`rowid as ${key}, *`).map(({ [key]: id, ...row }) => [String(id), row]));
  } catch {
    return new Map(all('*').map((row) => [JSON.stringify(row), row]));
  }
}

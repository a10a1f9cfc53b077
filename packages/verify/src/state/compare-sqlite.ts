import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJson } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  getErrorCode,
  openDatabase,
  readPragma,
  type Database,
  type Statement,
} from '@assay-mcp/kit/platform/sqlite';
import {
  compareJson,
  isGrowingCounter,
  isStateChange,
  isTimeUpdate,
  type Comparison,
} from './compare-json.ts';

const MAGIC = Buffer.from('SQLite format 3\0');
const MAX_ROWS = 50_000;

export function isSqlite(content: Buffer): boolean {
  return content.length >= 100 && content.subarray(0, MAGIC.length).equals(MAGIC);
}

type Row = Readonly<Record<string, unknown>>;
type Rows = ReadonlyMap<string, Row>;

interface Content {
  readonly tables: ReadonlyMap<string, Rows>;
  /** The statements that define them, which may be extended. */
  readonly definitions: string;
  /** Tables whose content SQLite or a virtual table derives from others. */
  readonly derived: ReadonlySet<string>;
}

/**
 * Compares the stored rows of two database files. Whether something was lost is unknown also if only rows are gone that
 * SQLite or a virtual table derives from others. The server wrote the schema, so nothing in it is evaluated: no view,
 * virtual table, generated column, index or trigger. The error is a phrase. Hostile files can still take much time and
 * memory, so this runs in a process of its own.
 */
export function compareSqlite(before: Buffer, after: Buffer): Result<Comparison, string> {
  const old = contentOf(before);
  if (!old.ok) return old;
  const now = contentOf(after);
  return now.ok ? ok(compareContents(old.value, now.value)) : now;
}

function compareContents(old: Content, now: Content): Comparison {
  let isAdditive: boolean | 'unknown' = true;
  let isTimestamps = sizeOf(old) === sizeOf(now) && old.definitions === now.definitions;
  for (const [table, rows] of old.tables) {
    const isDerived = old.derived.has(table) || now.derived.has(table);
    for (const [id, row] of rows) {
      const compared = compareRows(row, now.tables.get(table)?.get(id));
      isTimestamps &&= compared.isTimestamps;
      if (compared.isAdditive === true) continue;
      if (!isDerived && compared.isAdditive === false) isAdditive = false;
      else if (isAdditive) isAdditive = 'unknown';
    }
  }
  return { isAdditive, isTimestamps };
}

const LOST: Comparison = { isAdditive: false, isTimestamps: false };
const KEPT: Comparison = { isAdditive: true, isTimestamps: true };

function compareRows(before: Row, after: Row | undefined): Comparison {
  if (after === undefined) return LOST;
  const columns = Object.entries(before).map(([name, value]) => compareValues(value, after[name], name));
  return {
    isAdditive:
      columns.every(({ isAdditive }) => isAdditive === true) ||
      (columns.every(({ isAdditive }) => isAdditive !== false) && 'unknown'),
    isTimestamps: columns.every(({ isTimestamps }) => isTimestamps),
  };
}

function compareValues(before: unknown, after: unknown, column: string): Comparison {
  if (isSame(before, after) || isTimeUpdate(before, after, column)) return KEPT;
  if (before === null) return { isAdditive: true, isTimestamps: false };
  if (isGrowingCounter(before, after, column)) return { isAdditive: true, isTimestamps: false };
  if (isStateChange(before, after, column)) return { isAdditive: 'unknown', isTimestamps: false };
  const [old, now] = [documentOf(before), documentOf(after)];
  return old === undefined || now === undefined ? LOST : compareJson(old, now);
}

/** The JSON object or array in a text. */
function documentOf(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined;
  return parseJson(value);
}

function isSame(one: unknown, other: unknown): boolean {
  return Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : one === other;
}

function sizeOf({ tables }: Content): number {
  return [...tables.values()].reduce((sum, rows) => sum + rows.size, tables.size);
}

function contentOf(content: Buffer): Result<Content, string> {
  let folder: string | undefined;
  let database: Database | undefined;
  try {
    // In a sandbox, a folder in memory that only this process sees.
    folder = mkdtempSync(join(tmpdir(), 'assay-compare-'));
    const path = join(folder, 'content.db');
    writeFileSync(path, content);
    // A write-ahead log is ignored: it is not part of this content.
    database = openDatabase(path, { mode: 'read_alone' });
    database.exec('PRAGMA trusted_schema = off; PRAGMA cell_size_check = on');
    const schema = schemaOf(database);
    let room = MAX_ROWS - schema.length;
    const tables = new Map<string, Rows>([[SCHEMA, partsOf(schema, database)]]);
    for (const name of storedTables(schema)) {
      if (room <= 0) return err(TOO_MANY);
      const rows = rowsOf(database, name, room);
      if (!rows.ok) return rows;
      room -= rows.value.size;
      tables.set(name, rows.value);
    }
    const definitions = schema.map(({ sql }) => sql ?? '').join('\n');
    return ok({ tables, definitions, derived: derivedTables(schema) });
  } catch (error) {
    const code = getErrorCode(error);
    if (code === 'ENOSPC') return err('it is too large to compare');
    if (!code.startsWith('SQLITE_') && code !== 'ERR_OUT_OF_RANGE') throw error;
    // Its message may quote the server's text.
    return err(`SQLite cannot read it, ${code}`);
  } finally {
    database?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

const TOO_MANY = `it has more than ${MAX_ROWS} rows`;

/** An entry of the table `sqlite_schema`. */
interface SchemaEntry {
  readonly type: string;
  readonly name: string;
  /** 0 for a view, a trigger and a virtual table, which store no rows. */
  readonly rootpage: number | null;
  readonly sql: string | null;
}

function schemaOf(database: Database): readonly SchemaEntry[] {
  return database
    .prepare('select type, name, rootpage, sql from sqlite_schema order by type, name limit ?')
    .all(MAX_ROWS) as readonly SchemaEntry[];
}

function storedTables(schema: readonly SchemaEntry[]): readonly string[] {
  return schema.flatMap(({ type, name, rootpage }) =>
    type === 'table' && rootpage !== null && rootpage > 0 ? [name] : [],
  );
}

/** In these, full-text indexes have a row for each document. */
const DOCUMENT_TABLES = ['content', 'docsize'];

/** SQLite's statistics, and the tables in which virtual tables keep their indexes. */
function derivedTables(schema: readonly SchemaEntry[]): ReadonlySet<string> {
  const virtual = schema.flatMap(({ type, name, rootpage }) =>
    type === 'table' && (rootpage ?? 0) === 0 ? [`${name}_`.toLowerCase()] : [],
  );
  return new Set(
    storedTables(schema).filter((name) => {
      const lower = name.toLowerCase();
      if (lower.startsWith('sqlite_stat')) return true;
      return virtual.some(
        (prefix) => lower.startsWith(prefix) && !DOCUMENT_TABLES.includes(lower.slice(prefix.length)),
      );
    }),
  );
}

/** The place of the schema among the tables, none of which has an empty name. */
const SCHEMA = '';

/** Tables, which may be extended; indexes, views and triggers with their definitions; what applications number. */
function partsOf(schema: readonly SchemaEntry[], database: Database): Rows {
  const numbers = ['user_version', 'application_id'].map((name) => [name, readPragma(database, name)]);
  return new Map<string, Row>([
    ...schema.map(
      ({ type, name, sql }) => [`${type} ${name}`, type === 'table' ? { type } : { sql }] as const,
    ),
    ['', Object.fromEntries(numbers)],
  ]);
}

/** Rows by rowid; those of a table without rowids by their values. */
function rowsOf(database: Database, table: string, limit: number): Result<Rows, string> {
  const from = quoted(table);
  const stored = database.prepare('select name from pragma_table_xinfo(?) where hidden in (0, 3)').all(table);
  const names = (stored as readonly { readonly name: string }[]).map(({ name }) => name);
  const columns = names.map((name) => `${from}.${quoted(name)}`);
  // Texts are compared by their bytes, as several invalid ones are decoded to the same text.
  const values = columns.map(
    (column) => `iif(typeof(${column}) = 'text', cast(${column} as blob), ${column})`,
  );
  const prepared = (key: string): Statement => {
    // An index may contain other values than its table.
    const sql = `select ${[key, ...values].join(', ')} from ${from} not indexed limit ${limit + 1}`;
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement;
  };
  const key = rowidOf(names);
  const byRowid = key === undefined ? undefined : preparedOrNot(() => prepared(`${from}.${key}`));
  const encoding = String(readPragma(database, 'encoding'));
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const decode = (bytes: Buffer): string => decoder.decode(bytes);
  const rows = new Map<string, Row>();
  for (const found of (byRowid ?? prepared('null')).iterate()) {
    const [id, ...own] = (found as readonly unknown[]).map(withBuffer);
    const read = own.map((value) => readable(value, decode));
    const at = byRowid ? String(id) : JSON.stringify(own.map(keyText));
    if (rows.has(at)) return err('two of its rows have the same key');
    rows.set(at, rowOf(names, read));
    if (rows.size > limit) return err(TOO_MANY);
  }
  return ok(rows);
}

/** A name of the rowid that no column hides. */
function rowidOf(columns: readonly string[]): string | undefined {
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  return ['rowid', '_rowid_', 'oid'].find((name) => !taken.has(name));
}

function preparedOrNot(prepare: () => Statement): Statement | undefined {
  try {
    return prepare();
  } catch {
    return undefined;
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function withBuffer(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length) : value;
}

/** A number if it is exact. A text that is valid, and else its bytes. */
function readable(value: unknown, decode: (bytes: Buffer) => string): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (!Buffer.isBuffer(value)) return value;
  try {
    return decode(value);
  } catch {
    return value;
  }
}

function keyText(value: unknown): unknown {
  if (typeof value === 'bigint') return [String(value)];
  return Buffer.isBuffer(value) ? value.toString('latin1') : value;
}

function rowOf(names: readonly string[], values: readonly unknown[]): Row {
  const row = Object.create(null) as Record<string, unknown>; // a column may be called `__proto__`
  for (const [at, name] of names.entries()) row[name] = values[at];
  return row;
}

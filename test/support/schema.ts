import { join } from 'node:path';
import { sql } from 'kysely';
import type { Db, Dialect, Trx } from '../../packages/gateway/src/adapters/store/dialect.ts';
import { withPostgres } from '../../packages/gateway/src/adapters/store/postgres-store.ts';
import {
  createKysely,
  createSqliteDialect,
} from '../../packages/gateway/src/adapters/store/sqlite-dialect.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import type { StorePlace } from './store-values.ts';

/** Runs `work` on the database of a place, which may have no tables yet. */
export async function withTables<T>(
  { home, databaseUrl }: StorePlace,
  work: (db: Db, dialect: Dialect) => Promise<T>,
): Promise<T> {
  if (databaseUrl !== undefined) return withPostgres(databaseUrl, work);
  const place = join(home, 'assay.db');
  const database = openDatabase(place, { mode: 'create' });
  try {
    const db = createKysely(database);
    return await work(db, createSqliteDialect(place, { database, db }));
  } finally {
    database.close();
  }
}

/** What a database has, as far as it can break a program that knows only a part of it. */
export interface SchemaParts {
  readonly tables: ReadonlySet<string>;
  readonly columns: readonly Part[];
  readonly indexes: readonly Part[];
  /** Triggers, checks (PostgreSQL only), and foreign keys, which belong to the table that they refer to. */
  readonly rules: readonly Part[];
}

interface Part {
  readonly table: string;
  readonly text: string;
  /** A column without which no row can be inserted, an index that refuses rows. */
  readonly refuses: boolean;
}

export async function readSchemaParts(trx: Trx, { bytes }: Dialect): Promise<SchemaParts> {
  const read = async (text: string): Promise<readonly Part[]> => {
    const { rows } = await sql
      .raw<Record<'on_table' | 'text', string> & { refuses: unknown }>(text)
      .execute(trx);
    return rows.map((row) => ({ table: row.on_table, text: row.text, refuses: Number(row.refuses) === 1 }));
  };
  const statements = bytes === 'blob' ? SQLITE : POSTGRES;
  return {
    tables: new Set((await read(statements.tables)).map(({ table }) => table)),
    columns: await read(statements.columns),
    indexes: await read(statements.indexes),
    rules: await read(statements.rules),
  };
}

const SQLITE = {
  tables: "select name as on_table, '' as text, 0 as refuses from sqlite_master where type = 'table'",
  columns: `select m.name as on_table, c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '') || ' ' || c.pk as text,
      c.pk or (c."notnull" and c.dflt_value is null) as refuses
    from sqlite_master m, pragma_table_xinfo(m.name) c where m.type = 'table' order by 1, 2`,
  indexes: `select m.name as on_table, i.name || coalesce((select sql from sqlite_master where name = i.name), '') as text, i."unique" as refuses
    from sqlite_master m, pragma_index_list(m.name) i where m.type = 'table' order by 1, 2`,
  rules: `select f."table" as on_table, 'from ' || m.name as text, 1 as refuses
      from sqlite_master m, pragma_foreign_key_list(m.name) f where m.type = 'table'
    union all select tbl_name, sql, 1 from sqlite_master where type = 'trigger'`,
};

const POSTGRES = {
  tables: `select tablename as on_table, '' as text, 0 as refuses from pg_tables where schemaname = current_schema()`,
  columns: `select table_name as on_table, column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') as text,
      (is_nullable = 'NO' and column_default is null)::int as refuses
    from information_schema.columns where table_schema = current_schema() order by 1, 2`,
  indexes: `select tablename as on_table, indexdef as text, (indexdef like 'CREATE UNIQUE%')::int as refuses
    from pg_indexes where schemaname = current_schema() order by 1, 2`,
  rules: `select (case contype when 'f' then confrelid else conrelid end)::regclass::text as on_table,
      conname || ' ' || pg_get_constraintdef(oid) as text, 1 as refuses
      from pg_constraint where contype in ('c', 'f', 'x') and connamespace = current_schema()::regnamespace
    union all select tgrelid::regclass::text, tgname, 1 from pg_trigger where not tgisinternal order by 1, 2`,
};

/** Why a program that knows only `before` could fail with `after`: everything that is not just an addition. */
export function findBreakingParts(before: SchemaParts, after: SchemaParts): readonly string[] {
  const faults: string[] = [];
  for (const table of before.tables) if (!after.tables.has(table)) faults.push(`table ${table} is gone`);
  for (const kind of ['columns', 'indexes', 'rules'] as const) {
    const name = ({ table, text }: Part): string => `${kind} of ${table}: ${text}`;
    const known = new Set(before[kind].map(name));
    const present = new Set(after[kind].map(name));
    for (const part of known) if (!present.has(part)) faults.push(`${part} is gone or changed`);
    for (const part of after[kind]) {
      const isNew = !known.has(name(part));
      if (isNew && part.refuses && before.tables.has(part.table)) faults.push(`${name(part)} refuses rows`);
    }
  }
  return faults;
}

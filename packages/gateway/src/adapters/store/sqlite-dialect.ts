import { Kysely, sql, SqliteDialect, type SqliteStatement } from 'kysely';
import type { StorePart } from '../../gateway/ports/store.ts';
import { getErrorCode, type Database, type Bindings, type Statement } from '@assay-mcp/kit/platform/sqlite';
import type { Db, Dialect, Trx } from './dialect.ts';
import type { Tables } from './tables.ts';

/** `database` is the only connection that `db` uses; `verify` throws if it no longer writes to the right files. */
export function createSqliteDialect(
  place: string,
  { database, db, verify = () => undefined }: Connection,
): Dialect {
  const transaction = <T>(
    begin: string,
    work: (trx: Trx) => Promise<T>,
    check: () => void = () => undefined,
  ): Promise<T> =>
    db.connection().execute(async (connection) => {
      database.exec(begin);
      try {
        const done = await work(connection);
        check();
        database.exec('commit');
        // Detects a file moved away meanwhile before the write is acknowledged.
        check();
        return done;
      } finally {
        // Some errors, such as a full disk, have already ended the transaction.
        if (database.isTransaction) database.exec('rollback');
      }
    });
  return {
    place,
    bytes: 'blob',
    whole: 'integer',
    async hasTable(trx, name) {
      const found = await sql`select 1 from sqlite_master where name = ${name}`.execute(trx);
      return found.rows.length > 0;
    },
    // All processes on a file are on one machine.
    readClock: () => Promise.resolve(Date.now()),
    async prepareAnnouncing(trx) {
      await trx.schema
        .createTable('assay_parts')
        .addColumn('part', 'text', (column) => column.primaryKey())
        .addColumn('revision', 'integer', (column) => column.notNull())
        .execute();
    },
    async announce(trx, part) {
      await trx
        .insertInto('assay_parts')
        .values({ part, revision: 1 })
        .onConflict((conflict) =>
          conflict.column('part').doUpdateSet((build) => ({
            revision: build('assay_parts.revision', '+', 1),
          })),
        )
        .execute();
    },
    read: (work) => transaction('begin', work),
    // An immediate lock is waited for; a lock taken at the first write fails if another process wrote meanwhile.
    write: (_what, work) => transaction('begin immediate', work, verify),
  };
}

interface Connection {
  readonly database: Database;
  readonly db: Db;
  readonly verify?: () => void;
}

/**
 * Kysely prepares a statement each time it runs it, which takes longer than running it when many rows are inserted. So
 * the last few writing statements are cached. Reading ones are not: their columns may change.
 */
export function createKysely(database: Database): Db {
  const cached = new Map<string, SqliteStatement>();
  const prepare = (text: string): SqliteStatement => {
    const known = cached.get(text);
    if (known !== undefined) return known;
    const statement = toKyselyStatement(database.prepare(text), text);
    const [oldest = ''] = cached.size < MAX_CACHED ? [] : cached.keys();
    cached.delete(oldest);
    if (!statement.reader) cached.set(text, statement);
    return statement;
  };
  return new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { prepare, close: () => database.close() } }),
  });
}

const MAX_CACHED = 16;

function toKyselyStatement(statement: Statement, text: string): SqliteStatement {
  const names = statement.columns().map(({ name }) => name);
  // SQLite's own records have no prototype, and V8 reads their members several times more slowly.
  statement.setReturnArrays(true);
  const toRow = (cells: unknown): unknown => toRecord(names, cells as readonly unknown[]); // as just set
  // Kysely passes the parameters that `sql-store.ts` and its row modules give: all of a type that SQLite has.
  const given = (parameters: readonly unknown[]): Bindings => parameters as Bindings;
  return {
    reader: names.length > 0,
    all(parameters) {
      try {
        return statement.all(...given(parameters)).map(toRow);
      } catch (error) {
        // Another program has stored a larger integer than a number can hold, which must not hide the other rows.
        if (getErrorCode(error) !== 'ERR_OUT_OF_RANGE' || !text.startsWith('select')) throw error;
        statement.setReadBigInts(true);
        return statement.all(...given(parameters)).map(toRow);
      }
    },
    run: (parameters) => statement.run(...given(parameters)),
    *iterate(parameters) {
      for (const cells of statement.iterate(...given(parameters))) yield toRow(cells);
    },
  };
}

function toRecord(names: readonly string[], cells: readonly unknown[]): Readonly<Record<string, unknown>> {
  const row: Record<string, unknown> = {};
  let at = 0;
  for (const name of names) {
    const cell = cells[at++];
    row[name] = typeof cell === 'bigint' ? Number(cell) : cell;
  }
  return row;
}

export async function readRevisions(trx: Trx): Promise<ReadonlyMap<StorePart, number>> {
  const rows = await trx.selectFrom('assay_parts').selectAll().execute();
  return new Map(rows.map(({ part, revision }) => [part, revision]));
}

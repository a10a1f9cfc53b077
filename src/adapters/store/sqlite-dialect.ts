import type { Database } from 'better-sqlite3';
import { sql } from 'kysely';
import type { StorePart } from '../../gateway/ports/store.ts';
import type { Db, Dialect, Trx } from './dialect.ts';

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
        if (database.inTransaction) database.exec('rollback');
      }
    });
  return {
    place,
    bytes: 'blob',
    whole: 'integer',
    async hasMigrations(trx) {
      const found = await sql`select 1 from sqlite_master where name = 'assay_migrations'`.execute(trx);
      return found.rows.length > 0;
    },
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

export async function readRevisions(trx: Trx): Promise<ReadonlyMap<StorePart, number>> {
  const rows = await trx.selectFrom('assay_parts').selectAll().execute();
  return new Map(rows.map(({ part, revision }) => [part, revision]));
}

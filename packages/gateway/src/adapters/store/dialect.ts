import type { Kysely, Transaction } from 'kysely';
import type { StorePart } from '../../gateway/ports/store.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;
/** A connection that is exclusive until the work is done. */
export type Trx = Kysely<Tables> | Transaction<Tables>;

/** A part that only one writer may write at a time. */
export type Writable = StorePart | 'schema';

/** The few differences between the two databases. */
export interface Dialect {
  /** Where the database is, for people; never includes a password. */
  readonly place: string;
  readonly bytes: 'blob' | 'bytea';
  readonly whole: 'integer' | 'bigint';
  hasTable(db: Trx, name: string): Promise<boolean>;
  /** The time in ms by the clock that all processes on the database share. */
  readClock(trx: Trx): Promise<number>;
  /** Creates tables that only one database has, beyond `Tables`; called when the tables are created. */
  prepareAnnouncing(trx: Trx): Promise<void>;
  /**
   * Within the writing transaction: notifies other processes once it is committed. `key` says which of them it concerns,
   * where the database can tell them.
   */
  announce(trx: Trx, part: StorePart, key?: string): Promise<void>;
  /** One transaction on a consistent snapshot. */
  read<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** One transaction, never concurrent with another that writes any of these parts. Durable when it resolves. */
  write<T>(what: readonly Writable[], work: (trx: Trx) => Promise<T>): Promise<T>;
}

/** Databases limit the values of one statement; this many rows stay far below that. */
const ROWS_AT_A_TIME = 1_000;

/** Splits rows into batches that fit one statement. */
export function* splitIntoBatches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += ROWS_AT_A_TIME)
    yield rows.slice(from, from + ROWS_AT_A_TIME);
}

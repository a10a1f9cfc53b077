import type { Kysely, Transaction } from 'kysely';
import type { StorePart } from '../../gateway/ports/store.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;
/** A connection on which nobody else works until the work is done. */
export type Trx = Kysely<Tables> | Transaction<Tables>;

/** What one writer at a time may write. */
export type Writable = StorePart | 'schema';

/** The little in which the two databases differ. */
export interface Dialect {
  /** Where the database is, for people: never with a password. */
  readonly place: string;
  readonly bytes: 'blob' | 'bytea';
  readonly whole: 'integer' | 'bigint';
  hasMigrations(db: Trx): Promise<boolean>;
  /** Tables beside those of `Tables` that both have; made by the first migration. */
  prepareAnnouncing(trx: Trx): Promise<void>;
  /** Within the transaction that writes: lets other processes know once it is committed. */
  announce(trx: Trx, part: StorePart): Promise<void>;
  /** One transaction that sees one state. */
  read<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /**
   * One transaction, with which no other one that writes any of these parts runs at a time. Durable when it resolves.
   */
  write<T>(what: readonly Writable[], work: (trx: Trx) => Promise<T>): Promise<T>;
}

/** Databases bound the values of one statement; so many rows stay far below that. */
const ROWS_AT_A_TIME = 1_000;

/** The same rows, so many at a time as one statement takes. */
export function* portions<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += ROWS_AT_A_TIME)
    yield rows.slice(from, from + ROWS_AT_A_TIME);
}

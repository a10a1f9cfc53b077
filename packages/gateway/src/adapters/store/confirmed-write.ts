import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { waitAtMost, pause } from '@assay-mcp/kit/platform/pause';
import type { Db, Trx } from './dialect.ts';
import { getErrorCode } from '@assay-mcp/kit/platform/sqlite';
import { WriteUnconfirmed } from './driver-faults.ts';

/** How long in ms to find out whether a transaction was committed, and the interval of asking. */
const LIMIT_MS = 10_000;
const INTERVAL_MS = 100;
/** Time in ms after which a marker that its process did not remove is removed by another. */
const MARKER_MAX_AGE_MS = 3_600_000;

interface Marked<T> {
  readonly result: T;
  readonly marker: string;
  readonly transaction: string;
}

/**
 * Runs transactions in PostgreSQL. A connection that breaks during COMMIT does not say whether it was carried out, so
 * each transaction that writes also inserts a marker, which is then looked for on another connection. The status of the
 * transaction alone would not do: after a crash, PostgreSQL may give the id of a lost transaction to another one.
 */
export class ConfirmedWrites {
  readonly #db: Db;
  /** Markers of finished transactions; the next transaction removes them. */
  #old: string[] = [];

  constructor(db: Db) {
    this.#db = db;
  }

  /** Rejects with a `WriteUnconfirmed` if the outcome cannot be found out. */
  async run<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
    let marked: Marked<T> | undefined;
    try {
      return await this.#db.transaction().execute(async (trx) => {
        const result = await work(trx);
        marked = await this.#mark(trx, result);
        return result;
      });
    } catch (error) {
      if (marked === undefined || !(await this.#wasCommitted(marked, error))) throw error;
      return marked.result;
    } finally {
      if (marked !== undefined) this.#old.push(marked.marker);
    }
  }

  /** Undefined if the transaction has written nothing. */
  async #mark<T>(trx: Trx, result: T): Promise<Marked<T> | undefined> {
    const marker = randomUUID();
    const old = this.#old.splice(0);
    const { rows } = await sql<{ transaction: string }>`
      with removed as (
        delete from assay_markers
        where txid_current_if_assigned() is not null and (id = any(${old}::text[]) or id in (
          select id from assay_markers where written_ms < ${NOW} - ${MARKER_MAX_AGE_MS} for update skip locked)))
      insert into assay_markers (id, written_ms)
      select ${marker}, ${NOW} where txid_current_if_assigned() is not null
      returning txid_current_if_assigned()::text as transaction`.execute(trx);
    const [row] = rows;
    return row && { result, marker, transaction: row.transaction };
  }

  async #wasCommitted({ marker, transaction }: Marked<unknown>, cause: unknown): Promise<boolean> {
    const endMs = performance.now() + LIMIT_MS;
    for (;;) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) throw new WriteUnconfirmed(cause);
      const isThere = this.#isThere(marker, transaction).catch(() => undefined);
      const found = await waitAtMost(isThere, leftMs);
      if (found !== undefined) return found;
      await pause(INTERVAL_MS);
    }
  }

  /** Undefined while the transaction may still be running. Its status is read first, so that the marker decides. */
  async #isThere(marker: string, transaction: string): Promise<boolean | undefined> {
    if ((await this.#statusOf(transaction)) === 'in progress') return undefined;
    const found = await this.#db
      .selectFrom('assay_markers')
      .select('id')
      .where('id', '=', marker)
      .executeTakeFirst();
    return found !== undefined;
  }

  async #statusOf(transaction: string): Promise<string | null | undefined> {
    const status = sql<{ status: string | null }>`select txid_status(${transaction}::bigint) as status`;
    try {
      return (await status.execute(this.#db)).rows[0]?.status;
    } catch (error) {
      // The id is in the future: the server has lost the transaction in a crash or a failover.
      if (getErrorCode(error) === '22023') return 'aborted';
      throw error;
    }
  }
}

/** The time of the database, in ms, because the clocks of processes differ. */
const NOW = sql<number>`(extract(epoch from now()) * 1000)::bigint`;

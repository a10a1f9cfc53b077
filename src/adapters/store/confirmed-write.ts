import { sql } from 'kysely';
import { atMost, pause } from '../../platform/turns.ts';
import type { Db, Trx } from './dialect.ts';
import { WriteUnconfirmed } from './driver-faults.ts';

/** How long in ms to find out whether a transaction was committed, and the interval of asking. */
const LIMIT_MS = 10_000;
const INTERVAL_MS = 100;

/**
 * Runs a transaction in PostgreSQL. A connection that breaks during COMMIT does not say whether it was carried out, so
 * the status of the transaction is read on another one. Rejects with a `WriteUnconfirmed` if that is not possible.
 */
export async function confirmedWrite<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  let done: { readonly result: T; readonly id: string } | undefined;
  try {
    return await db.transaction().execute(async (trx) => {
      const result = await work(trx);
      const id = await idOf(trx);
      if (id !== undefined) done = { result, id };
      return result;
    });
  } catch (error) {
    if (done === undefined) throw error;
    if (await wasCommitted(db, done.id, error)) return done.result;
    throw error;
  }
}

/** Undefined if the transaction has written nothing. */
async function idOf(trx: Trx): Promise<string | undefined> {
  const { rows } = await sql<{ id: string | null }>`select txid_current_if_assigned()::text as id`.execute(
    trx,
  );
  return rows[0]?.id ?? undefined;
}

async function wasCommitted(db: Db, id: string, cause: unknown): Promise<boolean> {
  const endMs = performance.now() + LIMIT_MS;
  for (;;) {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) throw new WriteUnconfirmed(cause);
    const status = await atMost(
      statusOf(db, id).catch(() => undefined),
      leftMs,
    );
    if (status === 'committed') return true;
    if (status === 'aborted') return false;
    await pause(INTERVAL_MS);
  }
}

async function statusOf(db: Db, id: string): Promise<string | null | undefined> {
  const { rows } = await sql<{ status: string | null }>`select txid_status(${id}::bigint) as status`.execute(
    db,
  );
  return rows[0]?.status;
}

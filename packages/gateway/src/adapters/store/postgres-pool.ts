import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { pause } from '@assay-mcp/kit/platform/pause';
import type { Refusal } from '../../core/refusal.ts';
import type { Db } from './dialect.ts';
import { toStoreRefusal } from './driver-faults.ts';
import type { Tables } from './tables.ts';

/** Maximum age of a connection in seconds, so that a database that refuses new ones is noticed. */
const MAX_AGE_SECONDS = 60;
/** Interval in ms of trying again after a connection was refused. */
const RETRY_MS = 1_000;

/** Connections of this process to a database. */
export class PostgresPool {
  readonly db: Db;
  readonly #config: pg.ClientConfig;
  readonly #over = new AbortController();
  #fault: Refusal | undefined;

  constructor(config: pg.ClientConfig, max: number) {
    this.#config = config;
    const pool = new pg.Pool({ ...config, max, allowExitOnIdle: true, maxLifetimeSeconds: MAX_AGE_SECONDS });
    // The pool drops lost connections; a query running on one fails with the error.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    const connections = {
      connect: async (): Promise<PostgresPoolClient> => {
        try {
          return discardingWhenBroken(await pool.connect());
        } catch (error) {
          this.#note(error);
          throw error;
        }
      },
      end: () => pool.end(),
      options: pool.options,
    };
    this.db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: connections }) });
  }

  /** Why no new connection can be opened. Open ones may still work, as while the database shuts down. */
  get fault(): Refusal | undefined {
    return this.#fault;
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.db.destroy();
  }

  #note(error: unknown): void {
    const isKnown = this.#fault !== undefined;
    this.#fault = toStoreRefusal(error);
    if (!isKnown && this.#fault !== undefined && !this.#over.signal.aborted) void this.#retry();
  }

  /** The pool might only hand out a connection that is open already. */
  async #retry(): Promise<void> {
    const { signal } = this.#over;
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      await pause(RETRY_MS, signal);
      if (isOver()) return;
      const client = new pg.Client(this.#config);
      client.on('error', () => undefined);
      try {
        await client.connect();
        this.#fault = undefined;
        return;
      } catch (error) {
        this.#fault = toStoreRefusal(error) ?? this.#fault;
      } finally {
        void client.end().catch(() => undefined);
      }
    }
  }
}

/**
 * A connection that did not answer in time may be stalled for good, though it is still open. The pool must not hand it
 * out again.
 */
function discardingWhenBroken(client: pg.PoolClient): PostgresPoolClient {
  let fault: Error | undefined;
  const query = async (...args: unknown[]): Promise<unknown> => {
    if (fault !== undefined) throw fault;
    try {
      return await (client.query as (...all: unknown[]) => Promise<unknown>)(...args);
    } catch (error) {
      if (error instanceof Error && !(error instanceof pg.DatabaseError)) fault = error;
      throw error;
    }
  };
  return { query: query as PostgresPoolClient['query'], release: () => client.release(fault) };
}

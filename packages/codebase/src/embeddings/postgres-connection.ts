import pg from 'pg';
import { TunnelStream } from './tunnel-stream.ts';

/** What `pg` and PGlite have in common. */
export interface PostgresQueries {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

export interface PostgresConnection extends PostgresQueries {
  transaction<T>(work: (queries: PostgresQueries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A database for vectors. */
export interface VectorDatabase {
  readonly url: string;
  readonly connection: PostgresConnection;
}

/** An error of PostgreSQL or of the connection. `code`: SQLSTATE, or the code of Node. */
export class PostgresFault extends Error {
  readonly code: string;

  constructor(error: unknown) {
    const { message, code } = error instanceof Error ? describe(error) : { message: String(error), code: '' };
    super(message, { cause: error });
    this.code = code;
  }
}

const CONNECT_MS = 5_000;
/**
 * Normally the server's own time limit ends a statement first. This margin is for a server that does not answer at all.
 */
const ANSWER_MARGIN_MS = 1_000;
const MAX_CONNECTIONS = 4;

/** Connects when the first query is sent, through the HTTP proxy if there is one. `statementMs` limits each statement. */
export function openPostgres(url: string, statementMs: number, proxy?: string): PostgresConnection {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'assay codebase',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: statementMs,
    query_timeout: statementMs + ANSWER_MARGIN_MS,
    max: MAX_CONNECTIONS,
    ...(proxy !== undefined && { stream: () => new TunnelStream(proxy, CONNECT_MS) }),
    allowExitOnIdle: true,
  });
  // The pool drops lost connections; a query running on one fails with the error.
  pool.on('error', () => undefined);
  return {
    query: (sql, params) => faulted(() => pool.query(sql, params)),
    transaction: (work) => faulted(() => inTransaction(pool, work)),
    close: () => pool.end(),
  };
}

async function inTransaction<T>(pool: pg.Pool, work: (queries: PostgresQueries) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let fault: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    fault = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // A connection with an open transaction is closed, which rolls it back.
    client.release(fault);
  }
}

async function faulted<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof TypeError ? error : new PostgresFault(error);
  }
}

/** A host with several addresses fails with an AggregateError that has no message. */
function describe(error: Error): { readonly message: string; readonly code: string } {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const message = error.message === '' && first instanceof Error ? first.message : error.message;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'CONNECTION_FAILED';
  return { message, code };
}

import pg from 'pg';
import { inject } from 'vitest';
import { endLater, isAlive, kill, killLater, until } from './endings.ts';
import { startPostgresServer } from './postgres-server.ts';

/** An existing server to use instead of a new one. Databases are created and dropped in it. */
export const GIVEN_URL: string | undefined = process.env['TEST_DATABASE_URL'];

/** URL of a new, empty database in the server that all test files share; dropped when the file is done. */
export async function newDatabase(): Promise<string> {
  const server = await (shared ??= sharedUrl());
  const url = await newDatabaseIn(server);
  const name = new URL(url).pathname.slice(1);
  endLater(() => runSql(server, `drop database ${name} with (force)`));
  return url;
}

let shared: Promise<string> | undefined;
let databases = 0;

async function sharedUrl(): Promise<string> {
  if (GIVEN_URL !== undefined) return GIVEN_URL;
  const answer = await fetch(inject('postgresAt'));
  const text = await answer.text();
  if (!answer.ok) throw new Error(`PostgreSQL did not start: ${text}`);
  return text;
}

async function newDatabaseIn(server: string): Promise<string> {
  const name = `assay_test_${process.pid}_${++databases}`;
  await runSql(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** A server for a single test, which may kill it. */
export interface MortalPostgres {
  newDatabase(): Promise<string>;
  /** Kills the whole server with SIGKILL; it is down until `restart`. */
  crash(): Promise<void>;
  restart(): Promise<void>;
}

export async function mortalPostgres(): Promise<MortalPostgres> {
  const server = await startPostgresServer();
  endLater(() => server.stop());
  killLater(server.pid());
  return {
    newDatabase: () => newDatabaseIn(server.url),
    async crash() {
      const pid = server.pid();
      kill(pid, 'SIGKILL');
      await until('the server is gone', () => (isAlive(pid) ? undefined : true));
    },
    /** A killed server's processes take a moment to exit, and it cannot start again before that. */
    async restart() {
      const start = (): Promise<true | undefined> =>
        server.start().then(
          () => true,
          () => undefined,
        );
      await until('the server starts again', start, 20_000);
      killLater(server.pid());
    },
  };
}

/** All rows returned by one statement, on its own connection. */
export async function rowsOf(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

async function runSql(url: string, statement: string): Promise<void> {
  await rowsOf(url, statement);
}

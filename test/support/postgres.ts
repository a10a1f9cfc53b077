import pg from 'pg';
import { endLater, isAlive, kill, killLater, until } from './endings.ts';
import { launchPostgres, type LaunchedPostgres } from './launch-postgres.ts';

/** A server to use instead of one of our own. Databases are made in it, and dropped. */
export const GIVEN_URL: string | undefined = process.env['TEST_DATABASE_URL'];

/** The one server of the whole run, started by the first file that asks. */
export function postgres(): Promise<Postgres> {
  return (shared ??= urlOfRun().then((url) => new Postgres(url)));
}

/** A server that a test may kill. */
export async function ownPostgres(): Promise<KillablePostgres> {
  const launched = await launchPostgres();
  killLater(launched.pid());
  endLater(() => launched.stop());
  return new KillablePostgres(launched);
}

let shared: Promise<Postgres> | undefined;
let databases = 0;

async function urlOfRun(): Promise<string> {
  if (GIVEN_URL !== undefined) return GIVEN_URL;
  const answer = await fetch(process.env['TEST_POSTGRES_AT'] ?? '');
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}

export class Postgres {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** URL of a new, empty database. */
  async newDatabase(): Promise<string> {
    const name = `assay_test_${process.pid}_${++databases}`;
    await runSql(this.#url, `create database ${name}`);
    // Ours goes with its server.
    if (GIVEN_URL !== undefined) endLater(() => runSql(this.#url, `drop database ${name} with (force)`));
    const url = new URL(this.#url);
    url.pathname = `/${name}`;
    return url.href;
  }
}

export class KillablePostgres extends Postgres {
  readonly #launched: LaunchedPostgres;

  constructor(launched: LaunchedPostgres) {
    super(launched.url);
    this.#launched = launched;
  }

  /** kill -9 of the whole server, which is gone until it is started again. */
  async crash(): Promise<void> {
    const pid = this.#launched.pid();
    kill(pid, 'SIGKILL');
    await until('the server is gone', () => (isAlive(pid) ? undefined : true));
  }

  /** The processes of a killed server take a moment to see that it is gone; before that it does not start. */
  async restart(): Promise<void> {
    await until(
      'the server starts again',
      () =>
        this.#launched.start().then(
          () => true,
          () => undefined,
        ),
      20_000,
    );
    killLater(this.#launched.pid());
  }
}

/** All rows that one statement gives, by a connection of its own. */
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

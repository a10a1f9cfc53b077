import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reachablePostgres } from './reachable-postgres.ts';

/** A PostgreSQL server in its own folder. */
export interface PostgresServer {
  readonly url: string;
  /** Process id of the postmaster. */
  pid(): number;
  /** Starts it again after it has ended. */
  start(): Promise<void>;
  /** Stops it without flushing, and removes its folder. */
  stop(): Promise<void>;
}

/** Listens on a socket in its own folder, so servers never compete for a port. */
export async function startPostgresServer(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-pg-'));
  // As root, the server runs as another user, who must be able to write here.
  chmodSync(folder, 0o777);
  const Reachable = await reachablePostgres();
  const own = new Reachable({
    databaseDir: join(folder, 'data'),
    user: 'assay',
    password: 'not-to-be-shown',
    initdbFlags: ['--no-sync'],
    postgresFlags: [
      ...['-k', folder, '-c', 'listen_addresses=', '-c', 'max_connections=400', '-c', 'autovacuum=off'],
      // A kill does not lose the system's cache; only a power loss would.
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

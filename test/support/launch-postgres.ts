import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reachablePostgres } from './reachable-postgres.ts';

export interface LaunchedPostgres {
  readonly url: string;
  readonly pid: () => number;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A new server on a socket in its own folder, so that no two race for a port. */
export async function launchPostgres(): Promise<LaunchedPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-pg-'));
  // As root the server runs as another user, who must be able to write here.
  chmodSync(folder, 0o777);
  const Reachable = await reachablePostgres();
  const server = new Reachable({
    databaseDir: join(folder, 'data'),
    user: 'assay',
    password: 'not-to-be-shown',
    initdbFlags: ['--no-sync'],
    // A kill takes nothing from the cache of the system; only a loss of power would.
    postgresFlags: ['-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off', '-c', 'max_connections=500'],
    createPostgresUser: process.getuid?.() === 0,
    onLog() {},
    onError() {},
  });
  await server.initialise();
  await server.start();
  const pid = (): number =>
    Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  return {
    url: `postgres://assay:not-to-be-shown@${encodeURIComponent(folder)}/postgres`,
    pid,
    start: () => server.start(),
    // At once: what it would still write down is removed with it.
    stop: async () => {
      const stopped = server.stop();
      process.kill(pid(), 'SIGQUIT');
      await stopped;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { endLater, killLater, until } from './endings.ts';
import { tempDir } from './paths.ts';

const PORT = 6543;

/** The URL of the database through a PgBouncer of its own. */
export async function openPgBouncer(databaseUrl: string, mode: 'transaction' | 'session'): Promise<string> {
  const folder = tempDir();
  // As root, PgBouncer runs as the user of the database server, who must be able to write here.
  chmodSync(folder, 0o777);
  const target = new URL(databaseUrl);
  const [user, password] = [target.username, target.password].map(decodeURIComponent);
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(
    config,
    [
      '[databases]',
      `* = host=${decodeURIComponent(target.hostname)} port=${target.port || '5432'} user=${user} password=${password}`,
      '[pgbouncer]',
      'listen_addr =',
      `listen_port = ${PORT}`,
      `unix_socket_dir = ${folder}`,
      'auth_type = any',
      `pool_mode = ${mode}`,
      'ignore_startup_parameters = lock_timeout,statement_timeout,idle_in_transaction_session_timeout',
    ].join('\n'),
  );
  const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const child = spawn('pgbouncer', ['-q', ...asUser, config], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // Debian has daemons in /usr/sbin, which is not in every user's PATH.
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
  });
  killLater(child.pid);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  endLater(() => {
    child.kill('SIGKILL');
    return ended;
  });
  await until('PgBouncer listens', () => accepts(join(folder, `.s.PGSQL.${PORT}`)));
  return databaseUrl.replace(`@${target.host}`, `@${encodeURIComponent(folder)}:${PORT}`);
}

/** The file of a socket is there before its owner listens. */
function accepts(path: string): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path, () => {
      socket.destroy();
      resolve(true);
    }).once('error', () => resolve(undefined));
  });
}

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { PostgresPool } from '../../../src/adapters/store/postgres-pool.ts';
import { endLater, until } from '../../../../../test/support/endings.ts';
import { startPostgresServer } from '../../../../../test/support/postgres-server.ts';

it('a pool whose database refuses new connections while open ones still work has a fault, until it accepts them', async () => {
  const server = await startPostgresServer();
  endLater(() => server.stop());
  const pool = new PostgresPool({ connectionString: server.url }, 2);
  endLater(() => pool.close());
  const select = (): Promise<unknown> => sql`select 1`.execute(pool.db);
  await select();
  await pool.db.connection().execute(async () => {
    // It waits for its clients, and accepts no others.
    process.kill(server.pid(), 'SIGTERM');
    await until('a new connection is refused', () =>
      select().then(
        () => undefined,
        () => true,
      ),
    );
    expect(pool.fault).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      reason: expect.stringMatching(/shutting down|lost/),
    });
  });
  await pool.db
    .connection()
    .execute((connection) =>
      sql`select pg_terminate_backend(pg_backend_pid())`.execute(connection).catch(() => undefined),
    );
  await until('the server has ended and runs again', () =>
    server.start().then(
      () => true as const,
      () => undefined,
    ),
  );
  await until('it has no fault any more', () => (pool.fault === undefined ? true : undefined));
  await select();
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { build } from 'rolldown';
import type { TestProject } from 'vitest/node';
import { KYSELY, KYSELY_IN_ONE_FILE } from './kysely-in-one-file.ts';
import { startPostgresServer, type PostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for the URL of the run's PostgreSQL server. */
    readonly postgresAt: string;
  }
}

/** What all test files of a run share. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build({ input: { kysely: KYSELY }, platform: 'node', output: { dir: dirname(KYSELY_IN_ONE_FILE) } });
  return sharePostgres(project);
}

/** One PostgreSQL server, started by the first who asks: most runs of single files need none. */
async function sharePostgres(project: TestProject): Promise<() => Promise<void>> {
  let running: Promise<PostgresServer> | undefined;
  const asked = createServer((_request, response) => {
    running ??= startPostgresServer();
    running.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => asked.listen(0, '127.0.0.1', resolve));
  project.provide('postgresAt', `http://127.0.0.1:${(asked.address() as AddressInfo).port}/`);
  return async () => {
    asked.close();
    await (await running?.catch(() => undefined))?.stop();
  };
}

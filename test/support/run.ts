import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'rolldown';
import type { TestProject } from 'vitest/node';
import { KYSELY, KYSELY_IN_ONE_FILE } from './kysely-in-one-file.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address at which test files request the URL of the run's PostgreSQL server. */
    readonly postgresAt: string;
  }
}

/** Setup shared by all test files of a run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build({ input: { kysely: KYSELY }, platform: 'node', output: { dir: dirname(KYSELY_IN_ONE_FILE) } });
  return sharePostgres(project);
}

/** One PostgreSQL server, started on first request: most runs of single files need none. */
async function sharePostgres(project: TestProject): Promise<() => Promise<void>> {
  let running: ReturnType<typeof startPostgres> | undefined;
  const asked = createServer((_request, response) => {
    running ??= startPostgres();
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

const PROGRAM = join(import.meta.dirname, '..', 'fixtures', 'postgres-server.ts');

/**
 * Runs in its own process, because the package that starts PostgreSQL makes its process exit with 0 even after a failed
 * test.
 */
async function startPostgres(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const url = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (url === undefined) throw new Error('PostgreSQL did not start');
  return {
    url: String(url[0]),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { launchPostgres, type LaunchedPostgres } from './launch-postgres.ts';

let launched: Promise<LaunchedPostgres> | undefined;
let door: Server | undefined;

/** Starts one PostgreSQL for all test files when the first of them asks for its URL; a run without one starts none. */
export async function setup(): Promise<void> {
  const server = createServer((_request, response) => {
    launched ??= launchPostgres();
    launched.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  door = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env['TEST_POSTGRES_AT'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function teardown(): Promise<void> {
  door?.close();
  await (await launched)?.stop();
}

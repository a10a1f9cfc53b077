// All HTTP peers of the bench share one server setup, so that no comparison depends on a server setting.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

const KEEP_ALIVE_MS = 120_000;

/** Serves on a free loopback port, prints `listening PORT` to stdout, and ends with its parent. */
export function listen(handle: RequestListener, keepAliveTimeout: number = KEEP_ALIVE_MS): void {
  const server = createServer({ keepAliveTimeout }, handle);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`listening ${String(port)}\n`);
  });
  // A killed parent cannot stop its children, but it closes their stdin.
  process.stdin.on('close', () => process.exit(0)).resume();
}

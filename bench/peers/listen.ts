// Every HTTP peer of the bench listens alike, so that no comparison rests on a server setting.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

const KEEP_ALIVE_MS = 120_000;

/** Serves on a free loopback port, says `listening PORT` on stdout, and ends with its parent. */
export function listen(handle: RequestListener, keepAliveTimeout: number = KEEP_ALIVE_MS): void {
  const server = createServer({ keepAliveTimeout }, handle);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`listening ${String(port)}\n`);
  });
  // A parent that was killed cannot end its children; they see its end of their stdin close.
  process.stdin.on('close', () => process.exit(0)).resume();
}

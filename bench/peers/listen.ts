// Every HTTP peer of the bench listens alike, so that no comparison rests on a server setting.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves on a free loopback port, says `listening PORT` on stdout, and ends with its parent. */
export function listen(handle: RequestListener): void {
  const server = createServer({ keepAliveTimeout: 120_000 }, handle);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`listening ${String(port)}\n`);
  });
  // A parent that was killed cannot end its children; they see its end of their stdin close.
  process.stdin.on('close', () => process.exit(0)).resume();
}

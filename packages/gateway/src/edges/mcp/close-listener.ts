import type { Server } from 'node:http';
import { pause } from '@assay-mcp/kit/platform/pause';

/** Time in ms that responses have to end before their connections are cut. */
const CLOSE_LIMIT_MS = 1_000;

/** How often it is checked whether connections are left. */
const CHECK_INTERVAL_MS = 100;

/** Accepts no more connections and closes none, after those that the kernel has already accepted. */
export async function stopListening(server: Server): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  process.getBuiltinModule('node:net').Server.prototype.close.call(server);
}

/** Resolves when all connections are closed, after `limitMs` at the latest. */
export async function waitForDisconnection(server: Server, limitMs: number): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs && (await countConnections(server)) > 0) await pause(CHECK_INTERVAL_MS);
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.getConnections((error, count) => resolve(error === null ? count : 0)),
  );
}

/** Stops listening and closes all connections, those in use a moment later. */
export function closeListener(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else {
      server.once('close', resolve);
      server.getConnections((_, count) => count === 0 && resolve());
    }
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS).unref();
  });
}

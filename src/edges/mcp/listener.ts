import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** Resolves to the port on which the server listens. ADDRESS_UNUSABLE: it cannot listen. */
export function listen(server: Server, host: string, port: number): Promise<Result<number, Refusal>> {
  const bare = host.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'EADDRINUSE'
          ? 'the port is taken; choose another with --port'
          : (error.code ?? error.message);
      resolve(err({ code: 'ADDRESS_UNUSABLE', address: `${host}:${port}`, reason }));
    });
    server.listen(port, bare, () => resolve(ok((server.address() as AddressInfo).port)));
  });
}

/** The origin at which a server on this host and port is reached. */
export function formatOrigin(host: string, port: number): string {
  const shown = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}

/** Time in ms that responses have to end before their connections are cut. */
const CLOSE_LIMIT_MS = 1_000;

/** Stops listening and closes all connections, those in use a moment later. */
export function closeListener(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS).unref();
  });
}

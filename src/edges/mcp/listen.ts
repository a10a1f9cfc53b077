import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** Gives the port at which the server listens then. ADDRESS_UNUSABLE: it cannot. */
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

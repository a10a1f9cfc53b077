import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { endLater } from './endings.ts';

/** A connection to a local port that can be cut at any moment and works again right away. */
export interface Line {
  readonly url: string;
  /** Cuts all open connections. */
  cut(): void;
}

export async function openLine(port: number): Promise<Line> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      keep(from);
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  endLater(() => {
    cut();
    return new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
    });
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp/all`, cut };
}

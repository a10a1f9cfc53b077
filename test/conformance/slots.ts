import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The variable that names the port of the slots. */
export const SLOTS_PORT = 'CONFORMANCE_SLOTS_PORT';

export interface Slots {
  readonly port: number;
  close(): void;
}

/**
 * Limits the number of processes that work concurrently; each has its slot until its connection ends, for whatever
 * reason.
 */
export async function openSlots(count: number): Promise<Slots> {
  const waiting = new Set<Socket>();
  let free = count;
  const admit = (): void => {
    for (const socket of waiting) {
      if (free === 0) return;
      waiting.delete(socket);
      free--;
      socket.once('close', () => {
        free++;
        admit();
      });
      socket.write('go');
    }
  };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('close', () => waiting.delete(socket));
    waiting.add(socket);
    admit();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

/** Waits for a slot, and keeps it until this process ends. Without a port there is no limit. */
export async function takeSlot(port: string | undefined): Promise<void> {
  if (port === undefined) return;
  const socket = connect(Number(port), '127.0.0.1');
  await new Promise((resolve, reject) => {
    socket.once('data', resolve);
    socket.once('error', reject);
  });
  socket.unref();
}

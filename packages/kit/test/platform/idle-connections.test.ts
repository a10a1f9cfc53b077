// Servers that close idle connections without saying when.
import { channel } from 'node:diagnostics_channel';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { HttpClient } from '../../src/platform/http-client.ts';
import { endLater, until } from '../../../../test/support/endings.ts';

interface Peer {
  readonly origin: string;
  /** The bodies that came, each with the number of its connection. */
  readonly seen: readonly string[];
  /** The connections that are closed, by number. */
  readonly closed: ReadonlySet<number>;
}

/** Answers each request and closes a connection that is idle for `idleMs`. Says `keepAlive` about that. */
async function startPeer(idleMs: number, keepAlive = ''): Promise<Peer> {
  const seen: string[] = [];
  const closed = new Set<number>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const number = sockets.size;
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    socket.on('error', () => undefined);
    socket.on('close', () => closed.add(number));
    socket.on('data', (bytes) => {
      clearTimeout(timer);
      text += bytes.toString();
      const [head = '', body] = text.split('\r\n\r\n');
      if (body === undefined || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1])) return;
      seen.push(`${number} ${body}`);
      text = '';
      socket.write(`HTTP/1.1 200 OK\r\n${keepAlive}content-length: 2\r\n\r\n{}`);
      timer = setTimeout(() => socket.destroy(), idleMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        sockets.forEach((socket) => socket.destroy());
      }),
  );
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, closed };
}

function startClient({ origin }: Peer): (body: string) => Promise<string> {
  const client = new HttpClient(origin);
  endLater(() => client.close());
  return (body) =>
    new Promise((resolve) => {
      client.call(
        { method: 'POST', path: '/', headers: [], body: [Buffer.from(body)] },
        {
          start: () => undefined,
          data: () => undefined,
          end: () => resolve('answered'),
          error: ({ code }, isUnreached) => resolve(`${code} ${isUnreached}`),
        },
      );
    });
}

/** A connection can be reused one turn of the event loop after its response. */
async function reusable(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
}

it('a connection is reused for less time than the server was seen to keep an idle one', async () => {
  const peer = await startPeer(600);
  const call = startClient(peer);
  await call('a');
  await until('the server closes it', () => peer.closed.has(1) || undefined);
  await call('b');
  const sentMs = performance.now();
  await until('the client closes it', () => peer.closed.has(2) || undefined);
  const keptMs = performance.now() - sentMs;
  expect(peer.seen).toEqual(['1 a', '2 b']);
  expect(keptMs).toBeLessThan(500);
});

it.each([
  ['that does not say for how long it keeps idle connections', ''],
  ['that says it keeps idle connections for longer', 'Keep-Alive: timeout=60\r\n'],
])('a connection to a server %s', { timeout: 20_000 }, async (_, said) => {
  const peer = await startPeer(60_000, said);
  const call = startClient(peer);
  await call('a');
  const sentMs = performance.now();
  await until(
    'it is closed, or kept',
    () => peer.closed.has(1) || performance.now() - sentMs > 5_000 || undefined,
  );
  expect(peer.closed.has(1)).toBe(said === '');
});

it('a request that could not be written to a reused connection is sent once on another one', async () => {
  const opened: Socket[] = [];
  const take = (message: unknown): void => {
    opened.push((message as { socket: Socket }).socket);
  };
  channel('undici:client:connected').subscribe(take);
  endLater(async () => {
    channel('undici:client:connected').unsubscribe(take);
    await Promise.resolve();
  });
  const peer = await startPeer(60_000);
  const call = startClient(peer);
  await call('a');
  await reusable();
  const [socket] = opened.filter(({ remotePort }) => peer.origin.endsWith(`:${remotePort}`));
  // What the system reports if the server's reset came after the connection was chosen.
  const error = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' });
  Object.assign(socket ?? {}, { write: () => socket?.destroy(error) && false });
  expect(await call('b')).toBe('answered');
  expect(peer.seen).toEqual(['1 a', '2 b']);
});

it('a request that was written and not answered is not sent again', async () => {
  let requests = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      requests += 1;
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
      else socket.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(() => new Promise((resolve) => server.close(() => resolve())));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = startClient({ origin, seen: [], closed: new Set() });
  expect(await call('a')).toBe('answered');
  await reusable();
  expect(await call('b')).toBe('CONNECTION_CLOSED false');
  expect(requests).toBe(2);
});

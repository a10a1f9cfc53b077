import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { execFileSync } from 'node:child_process';
import { endLater, until } from './endings.ts';
import type { Headers } from './http.ts';

/** Opens many connections, sends the same on each, and holds them without reading. Resolves when all are open. */
export async function openMany(port: number, count: number, first = ''): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.pause();
    socket.once('connect', () => {
      if (first !== '') socket.write(first);
    });
    return socket;
  });
  endLater(() => {
    for (const socket of sockets) socket.destroy();
    return Promise.resolve();
  });
  await Promise.all(sockets.map(opened));
  return sockets;
}

function opened(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve());
    socket.once('close', () => resolve());
  });
}

/** Waits until the other side has closed it. Remaining data is read and discarded, as the end comes after it. */
export async function untilClosed(socket: Socket, limitMs?: number): Promise<void> {
  socket.resume();
  await until(
    'the connection is closed',
    () => (socket.closed || socket.readableEnded ? true : undefined),
    limitMs,
  );
}

/** A client that sends requests one after another on one connection. */
export interface Kept {
  post(url: string, headers: Headers, body: string): Promise<string>;
  /** Number of connections opened. */
  connections(): number;
}

export function keepConnection(): Kept {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let connections = 0;
  endLater(() => {
    agent.destroy();
    return Promise.resolve();
  });
  return {
    connections: () => connections,
    post: (url, headers, body) =>
      new Promise((resolve, reject) => {
        const asked = request(url, {
          method: 'POST',
          agent,
          headers: Object.fromEntries(Object.entries(headers)) as never,
        });
        asked.on('error', reject);
        asked.on('response', (response) => {
          if (!asked.reusedSocket) connections += 1;
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => (text += part));
          response.on('end', () => resolve(text));
        });
        asked.end(body);
      }),
  };
}

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024;
}

/** The bytes of a POST request, to be written by hand. */
export function rawPost(headers: Headers, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return `POST /mcp/all HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

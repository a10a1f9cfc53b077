import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { endLater } from './endings.ts';

export interface ConnectProxyOptions {
  /** The port on this machine to which each request for a tunnel is connected, whatever it names. */
  readonly to?: number;
  /** Answers this status instead. */
  readonly status?: number;
  /** Credentials that it wants, such as `user:password`. */
  readonly credentials?: string;
  /** With it, clients reach the proxy over TLS. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

export interface ConnectProxy {
  readonly port: number;
  /** The targets of all requests, in order. */
  readonly targets: readonly string[];
  /** The credentials of all requests. */
  readonly credentials: readonly (string | undefined)[];
  /** The number of connections that it has received. */
  readonly connections: () => number;
}

/** An HTTP proxy on loopback that makes tunnels. It resolves no names. */
export async function serveConnectProxy(options: ConnectProxyOptions): Promise<ConnectProxy> {
  const targets: string[] = [];
  const credentials: (string | undefined)[] = [];
  let connections = 0;
  const { certificate } = options;
  const server = certificate === undefined ? createServer() : createSecureServer(certificate);
  const sockets = new Set<Duplex>();
  server.on('connection', (socket: Duplex) => {
    connections += 1;
    sockets.add(socket);
  });
  server.on('connect', (request: IncomingMessage, near: Duplex) => {
    targets.push(request.url ?? '');
    const given = readCredentials(request.headers['proxy-authorization']);
    credentials.push(given);
    near.on('error', () => undefined);
    const isWelcome = options.credentials === undefined || options.credentials === given;
    const status = isWelcome ? options.status : 407;
    if (status !== undefined) return void near.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const far = connect(options.to ?? 0, '127.0.0.1', () =>
      near.write('HTTP/1.1 200 Connection established\r\n\r\n'),
    );
    sockets.add(far);
    far.on('error', () => near.destroy());
    far.pipe(near).pipe(far);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return {
    port: (server.address() as AddressInfo).port,
    targets,
    credentials,
    connections: () => connections,
  };
}

function readCredentials(header: string | undefined): string | undefined {
  const [, encoded] = /^Basic (.+)$/.exec(header ?? '') ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
}

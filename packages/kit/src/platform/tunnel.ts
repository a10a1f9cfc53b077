import { request } from 'node:http';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** Where a connection through a proxy leads. */
export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

/** The proxy did not connect: it refused the destination, or cannot reach it. */
class TunnelError extends Error {
  readonly code = 'ECONNREFUSED';
}

/** Connects through an HTTP proxy by CONNECT (RFC 9110, section 9.3.6). Rejects with an error that has a `code`. */
export function openTunnel(proxy: string, { host, port }: TunnelTarget, limitMs: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { hostname, port: proxyPort } = new URL(proxy);
  const path = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const options = {
    host: hostname,
    port: proxyPort,
    method: 'CONNECT',
    path,
    agent: false,
    timeout: limitMs,
  };
  const asked = request(options);
  asked.once('connect', ({ statusCode }, socket, head) => {
    socket.setTimeout(0);
    if (statusCode === 200) {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
      return;
    }
    socket.destroy();
    reject(new TunnelError(`the proxy answered ${statusCode ?? 'nothing'} for ${path}`));
  });
  asked.once('response', () => void asked.destroy(new TunnelError(`the proxy has no tunnel to ${path}`)));
  asked.once('timeout', () => void asked.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
  asked.once('error', reject);
  asked.end();
  return promise;
}

/** For undici: connections through an HTTP proxy, with TLS inside where the URL asks for it. */
export function createTunnelConnector(proxy: string, limitMs: number): buildConnector.connector {
  const secure = buildConnector({ timeout: limitMs, allowH2: false });
  return (options, callback) => {
    const { hostname, port, protocol } = options;
    const isTls = protocol === 'https:';
    const target = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || (isTls ? 443 : 80)) };
    openTunnel(proxy, target, limitMs).then(
      (httpSocket) => (isTls ? secure({ ...options, httpSocket }, callback) : callback(null, httpSocket)),
      (error: unknown) => callback(error instanceof Error ? error : new TunnelError(String(error)), null),
    );
  };
}

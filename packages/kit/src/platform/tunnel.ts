import { toBareHost } from '../bare-host.ts';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { formatProxyFault, formatProxyUrl, type ProxyFault, type ProxyServer } from '../outbound.ts';
import { CHOSEN_BY_OPERATOR } from '../reach.ts';
import { getLiteralReach } from './addresses.ts';
import { guardCallback, type Peer } from './guarded.ts';
import { createCheckedLookup, ForbiddenAddress, type ResolveName } from './checked-lookup.ts';

/** Where a connection through a proxy leads. */
export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

/** A proxy made no connection, so nothing was sent to the target. */
export class ProxyError extends Error {
  readonly code: ProxyFault['code'];
  readonly fault: ProxyFault;

  constructor(fault: ProxyFault) {
    super(`it ${formatProxyFault(fault)}`);
    this.code = fault.code;
    this.fault = fault;
  }
}

export interface TunnelOptions {
  readonly limitMs: number;
  /** Resolves the name of the proxy. */
  readonly resolve?: ResolveName | undefined;
}

/** Connects through an HTTP proxy by CONNECT (RFC 9110, section 9.3.6). Rejects with ProxyError. */
export function openTunnel(
  { url, reaches }: ProxyServer,
  target: TunnelTarget,
  { limitMs, resolve: resolveName }: TunnelOptions,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const proxy = formatProxyUrl(url);
  const literal = getLiteralReach(url.hostname);
  if (literal !== undefined && !reaches.has(literal))
    return Promise.reject(new ProxyError({ code: 'PROXY_NOT_ALLOWED', proxy, reaches: [literal] }));
  const asked = requestTunnel(url, target, createCheckedLookup({ reaches, resolve: resolveName }));
  const fail = (error: Error): void => {
    clearTimeout(timer);
    reject(new ProxyError(toProxyFault(error, proxy)));
  };
  const timer = setTimeout(
    () => void asked.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })),
    limitMs,
  );
  const peer: Peer = { name: `proxy ${proxy}`, end: (error) => void asked.destroy(error as Error) };
  asked.once(
    'connect',
    guardCallback(peer, ({ statusCode: status = 0 }: IncomingMessage, socket: Socket, head: Buffer) => {
      clearTimeout(timer);
      // Until its user listens, too.
      socket.on('error', () => undefined);
      if (status >= 200 && status < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      const refusal = { code: 'PROXY_REFUSED', proxy, status } as const;
      reject(new ProxyError(status === 407 ? { code: 'PROXY_CREDENTIALS_REFUSED', proxy } : refusal));
    }),
  );
  asked.once('error', fail);
  asked.once('close', () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  asked.end();
  return promise;
}

function requestTunnel(url: URL, { host, port }: TunnelTarget, lookup: LookupFunction): ClientRequest {
  const { request } =
    url.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  const path = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const credentials = `${decode(url.username)}:${decode(url.password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const proxyHost = toBareHost(url.hostname);
  return request({
    host: proxyHost,
    // Otherwise Node expects a certificate for the host in the header `host`.
    servername: isIP(proxyHost) === 0 ? proxyHost : '',
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path,
    headers: { host: path, ...(credentials !== ':' && { 'proxy-authorization': authorization }) },
    agent: false,
    lookup,
  });
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function toProxyFault(error: Error & { readonly code?: string }, proxy: string): ProxyFault {
  return error instanceof ForbiddenAddress
    ? { code: 'PROXY_NOT_ALLOWED', proxy, reaches: error.reaches }
    : { code: 'PROXY_UNREACHABLE', proxy, error: error.code ?? error.name };
}

/** For undici: all connections through the HTTP proxy of a sandbox, which looks up hosts and checks their addresses. */
export function createSandboxProxyConnector(sandboxProxy: string, limitMs: number): buildConnector.connector {
  const proxy = { url: new URL(sandboxProxy), reaches: CHOSEN_BY_OPERATOR };
  const start = createTunnelStarter(limitMs);
  return (options, callback) => {
    openTunnel(proxy, toTarget(options), { limitMs }).then(
      (socket) => start(socket, options, callback),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

type ConnectorArguments = Parameters<buildConnector.connector>;

/** Hands an open tunnel to undici, with TLS inside where the URL asks for it, verified with the name in the URL. */
export function createTunnelStarter(
  limitMs: number,
  secureContext?: SecureContext,
): (socket: Socket, options: ConnectorArguments[0], callback: ConnectorArguments[1]) => void {
  const secure = buildConnector({
    timeout: limitMs,
    allowH2: false,
    ...(secureContext && { secureContext }),
  });
  return (httpSocket, options, callback) => {
    if (options.protocol === 'https:') secure({ ...options, httpSocket }, callback);
    else callback(null, httpSocket);
  };
}

/** Host and port of a connection that undici wants. */
export function toTarget({ hostname, port, protocol }: buildConnector.Options): TunnelTarget {
  return {
    host: toBareHost(hostname),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  };
}

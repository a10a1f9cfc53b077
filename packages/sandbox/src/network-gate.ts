import { toBareHost } from '@assay-mcp/kit/bare-host';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, isIP, type LookupFunction, Server as Listener, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { findAllowance, type Destination, formatDestination, readDestination } from './network-rules.ts';
import type { Reach } from '@assay-mcp/kit/reach';
import type { ObservedDenial } from './denial.ts';
import { getReach } from '@assay-mcp/kit/platform/addresses';
import { createCheckedLookup, type ResolveName } from '@assay-mcp/kit/platform/checked-lookup';
import { guardCallback, type Peer } from '@assay-mcp/kit/platform/guarded';

export interface NetworkRules {
  /** Hosts that the process may connect to. Undefined: all at public addresses. */
  readonly allowed: readonly string[] | undefined;
  /** Address ranges permitted for hosts that the list names explicitly. */
  readonly namedReaches: ReadonlySet<Reach>;
  readonly resolve?: ResolveName | undefined;
}

const PUBLIC: ReadonlySet<Reach> = new Set(['public']);
const MAX_CONNECTIONS = 256;
const MAX_DENIALS = 20;
const IDLE_MS = 300_000;
const CONNECT_MS = 30_000;
/**
 * A sandbox's only network access: an HTTP proxy on a socket that listens inside its network namespace. Addresses are
 * checked before a connection is made. Both sides are hostile: each callback is guarded and ends its own connection on a
 * fault.
 */
export class NetworkGate {
  readonly #rules: NetworkRules;
  readonly #proxy: Server;
  readonly #denials: ObservedDenial[] = [];
  #listener: Listener | undefined;
  readonly #sockets = new Set<Socket>();

  constructor(rules: NetworkRules) {
    this.#rules = rules;
    this.#proxy = createServer((incoming, answer) =>
      guardCallback(peerOf(incoming.socket), () => this.#relay(incoming, answer))(),
    );
    this.#proxy.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) =>
      guardCallback(peerOf(client), () => this.#tunnel(incoming, client, head))(),
    );
    this.#proxy.on('clientError', (_, socket) => void socket.destroy());
  }

  /** The last denials, oldest first. */
  get denials(): readonly ObservedDenial[] {
    return this.#denials;
  }

  /** Serves a listening socket that the sandboxed process has passed on. Returns false for anything else. */
  serve(handle: unknown): boolean {
    if (!(handle instanceof Listener) || this.#listener !== undefined) return false;
    this.#listener = handle;
    handle.maxConnections = MAX_CONNECTIONS;
    handle.unref();
    handle.on('error', () => undefined);
    handle.on('connection', (socket: Socket) =>
      guardCallback(peerOf(socket), () => {
        this.#keep(socket);
        this.#proxy.emit('connection', socket);
      })(),
    );
    return true;
  }

  close(): void {
    this.#listener?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #tunnel(incoming: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on('error', () => undefined);
    const destination = readDestination(incoming.url ?? '');
    const lookup = destination && this.#lookupFor(destination);
    if (destination === undefined || lookup === undefined) {
      client.end(refusalText(incoming.url ?? ''));
      return;
    }
    const socket = connect({ ...destination, lookup, timeout: CONNECT_MS });
    const peer = peerOf(client, socket);
    let isOpen = false;
    this.#keep(socket);
    socket.once('timeout', () => void socket.destroy());
    socket.once(
      'error',
      guardCallback(peer, (error: Error) => {
        if (isForbidden(error)) this.#deny(destination);
        if (isOpen) client.destroy();
        else client.end(isForbidden(error) ? refusalText(formatDestination(destination)) : UNREACHED);
      }),
    );
    socket.once(
      'connect',
      guardCallback(peer, () => {
        isOpen = true;
        socket.setTimeout(IDLE_MS);
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        socket.write(head);
        socket.pipe(client).pipe(socket);
      }),
    );
    client.once('close', () => void socket.destroy());
    socket.once('close', () => void client.end());
  }

  /** A plain request, whose URL is absolute. */
  #relay(incoming: IncomingMessage, answer: ServerResponse): void {
    const url = URL.parse(incoming.url ?? '') ?? undefined;
    const host = url && toBareHost(url.hostname);
    const destination =
      url?.protocol === 'http:' && host ? { host, port: Number(url.port || '80') } : undefined;
    const lookup = destination && this.#lookupFor(destination);
    if (url === undefined || destination === undefined || lookup === undefined) {
      answer.writeHead(403).end(whyText(destination ? formatDestination(destination) : 'this'));
      return;
    }
    const framing = incoming.headers['transfer-encoding'];
    if (framing !== undefined && framing.toLowerCase() !== 'chunked') {
      answer.writeHead(501).end('This proxy supports no transfer coding but "chunked".\n');
      return;
    }
    const headers = {
      ...selectEndToEndHeaders(incoming.rawHeaders),
      // On a server with several sites, another host in this header would reach one that is not allowed (RFC 9112,
      // section 3.2.2).
      host: url.host,
      // Without it Node would send this body unframed, and the server would read it as its next request.
      ...(framing !== undefined && { 'transfer-encoding': 'chunked' }),
    };
    const { method } = incoming;
    const path = url.pathname + url.search;
    // A pooled connection might have been opened under the rules of another gate.
    const options = { ...destination, lookup, method, path, headers, timeout: IDLE_MS, agent: false };
    const outgoing = request(options);
    const peer = peerOf(answer, outgoing);
    const fail = guardCallback(peer, (error?: Error) => {
      const isDenied = error !== undefined && isForbidden(error);
      if (isDenied) this.#deny(destination);
      if (answer.headersSent) answer.destroy();
      else
        answer.writeHead(isDenied ? 403 : 502).end(isDenied ? whyText(formatDestination(destination)) : '');
    });
    outgoing.on(
      'response',
      guardCallback(peer, (response: IncomingMessage) => passOn(response, answer)),
    );
    // Without a listener, Node closes the connection without an error.
    outgoing.on('upgrade', (_, socket) => void socket.destroy());
    outgoing.on('timeout', () => void outgoing.destroy());
    outgoing.on('error', fail);
    outgoing.on('close', () => {
      if (!answer.headersSent) fail();
    });
    answer.once('close', () => void outgoing.destroy());
    incoming.on('error', () => void outgoing.destroy());
    incoming.pipe(outgoing);
  }

  /** A lookup that finds only allowed addresses. Undefined, with the denial noted, if the host is not allowed. */
  #lookupFor(destination: Destination): LookupFunction | undefined {
    const { allowed, namedReaches, resolve } = this.#rules;
    const allowance = findAllowance(destination, allowed);
    const reaches = allowance === 'named' ? namedReaches : PUBLIC;
    const isLiteral = isIP(destination.host) !== 0;
    if (allowance === undefined || (isLiteral && !reaches.has(getReach(destination.host)))) {
      this.#deny(destination);
      return undefined;
    }
    return createCheckedLookup({ reaches, resolve });
  }

  #deny(destination: Destination): void {
    if (this.#denials.length >= MAX_DENIALS) this.#denials.shift();
    this.#denials.push({ kind: 'connect', target: formatDestination(destination), atMs: Date.now() });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.unref();
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

/** Passes a response on. Its status and headers are those of a stranger, which Node may refuse to write. */
function passOn(response: IncomingMessage, answer: ServerResponse): void {
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 599) {
    answer.writeHead(502).end(`The server answered with the invalid status ${statusCode}.\n`);
    response.destroy();
    return;
  }
  answer.writeHead(statusCode, selectEndToEndHeaders(response.rawHeaders));
  pipeline(response, answer, () => undefined);
}

const UNREACHED = 'HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

/** One connection of a sandboxed process, with what was opened for it. */
function peerOf(...streams: readonly { destroy(): unknown }[]): Peer {
  return { name: 'sandboxed process', end: () => streams.forEach((stream) => void stream.destroy()) };
}

function isForbidden(error: Error): boolean {
  return 'code' in error && error.code === 'FORBIDDEN_ADDRESS';
}

function whyText(target: string): string {
  return `The sandbox of this server does not allow connections to ${target}.\n`;
}

function refusalText(target: string): string {
  const body = whyText(target.slice(0, 300).replace(/[^\x20-\x7e]/g, '?'));
  const head = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  return `HTTP/1.1 403 Forbidden\r\n${head}\r\n\r\n${body}`;
}

/** Headers that belong to one connection (RFC 9110, section 7.6.1), and those of HTTP proxies. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Characters that Node parses in a header value but refuses to write. */
const UNWRITABLE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The headers that a proxy passes on: all but those that belong to one connection, by their own name or because
 * `Connection` names them. Those that Node could not write are left out too. `raw`: alternating names and values, as Node parsed them.
 */
export function selectEndToEndHeaders(raw: readonly string[]): Record<string, string[]> {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at): [name: string, value: string] => [
    (raw[2 * at] ?? '').toLowerCase(),
    raw[2 * at + 1] ?? '',
  ]);
  const named = new Set(
    pairs.flatMap(([name, value]) =>
      name === 'connection' ? value.split(',').map((token) => token.trim().toLowerCase()) : [],
    ),
  );
  // Without a prototype: a peer may send a header that is called `__proto__`.
  const passed = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of pairs)
    if (!HOP_BY_HOP.has(name) && !named.has(name) && !UNWRITABLE.test(value))
      (passed[name] ??= []).push(value);
  return passed;
}

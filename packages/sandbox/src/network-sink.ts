import { type RemoteInfo, Socket as Datagrams } from 'node:dgram';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import { execPath } from 'node:process';
import { guardCallback } from '@assay-mcp/kit/platform/guarded';
import type { NetworkAddress, NetworkRequest, TracedEvent } from './observation.ts';
import { buildDnsAnswer, readQueriedName } from './dns-query.ts';
import { PAGE_URL } from './page-url.ts';
import type { Trace } from './trace-reader.ts';

const DNS_PORT = 53;
const HTTP_PORT = 80;

/**
 * Runs first in the sandbox: listens on the ports of DNS and HTTP, passes the sockets to Assay, and is replaced by the
 * server. If the ports are taken, queries remain unanswered.
 */
const TAKE_PORTS = `
const { createServer } = require('node:net');
const { createSocket } = require('node:dgram');
const { NODE_CHANNEL_FD, NODE_CHANNEL_SERIALIZATION_MODE, ...env } = process.env;
process.once('disconnect', () =>
  process.execve('/bin/sh', ['sh', '-c', 'exec "$@"', 'sh', ...process.argv.slice(1)], env));
const ready = (socket, event, take) => new Promise((resolve, reject) => {
  socket.once('error', reject).once(event, () => resolve(socket));
  take();
});
const [names, pages] = [createSocket('udp4'), createServer()];
Promise.all([
  ready(names, 'listening', () => names.bind(${DNS_PORT}, '127.0.0.1')),
  ready(pages, 'listening', () => pages.listen(${HTTP_PORT}, '0.0.0.0')),
]).then((sockets) => { for (const one of sockets) process.send('socket', one); }, () => process.disconnect());`;

/** Precedes a sandboxed command so that its DNS queries and HTTP requests are answered. */
export const SINK_COMMAND: readonly string[] = [execPath, '--no-warnings', '-e', TAKE_PORTS, '--'];
/** Number of messages that it sends. */
export const SINK_HANDLES = 2;
/** Number of programs that it executes in its own process before the server. */
export const SINK_EXECUTIONS = 2;

const MAX_NAMES = 10_000;
const MAX_REQUESTS = 1_000;
const MAX_URL = 300;

const PAGE_HOST = new URL(PAGE_URL).hostname;
const PAGE_HEADERS = { 'content-type': 'text/html; charset=utf-8', connection: 'close' };
const PAGE =
  '<!doctype html>\n<html lang="en"><head><title>A page</title></head><body><h1>A page</h1><p>A note.</p></body></html>\n';

function isPageRequest({ headers: { host = '' } }: IncomingMessage): boolean {
  return host.replace(/:\d+$/, '') === PAGE_HOST;
}

/**
 * Answers in a network namespace without outside access: each queried name gets its own address, where HTTP requests
 * are recorded and refused, except those for one page at `page.test`.
 */
export class NetworkSink {
  readonly #addresses = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #pages: Server;
  readonly #sockets = new Set<{ readonly destroy: () => void }>();
  #requests: NetworkRequest[] = [];
  #queries: NetworkRequest[] = [];

  constructor() {
    this.#pages = createServer((request, answer) =>
      guardCallback({ name: 'observed process', end: () => void answer.destroy() }, () => {
        this.#note(request);
        if (isPageRequest(request)) answer.writeHead(200, PAGE_HEADERS).end(PAGE);
        else answer.writeHead(503, { connection: 'close' }).end();
      })(),
    );
  }

  /** Serves a socket that the sandboxed process has passed on. */
  serve(handle: unknown): void {
    if (handle instanceof Datagrams) this.#answerNames(handle);
    else if (handle instanceof Listener) this.#answerPages(handle);
  }

  /** HTTP requests since the last call and, unless a trace has them, DNS queries. */
  take({ isTraced }: { readonly isTraced: boolean }): readonly NetworkRequest[] {
    const taken = isTraced ? this.#requests : [...this.#queries, ...this.#requests];
    this.#requests = [];
    this.#queries = [];
    return taken;
  }

  /** The trace with each address that was assigned here replaced by its host name. */
  named({ events, network, ...rest }: Trace): Trace {
    const meant = events.map((event) => this.#meant(event));
    const connections = meant.flatMap((event, at): readonly NetworkRequest[] => {
      if (event === events[at] || !('address' in event) || event.address.family === 'unix') return [];
      const { host, port } = event.address;
      const kind = event.kind === 'send' ? 'udp' : 'tcp';
      return [{ atMs: event.atMs, pid: event.pid, kind, host, port }];
    });
    return {
      ...rest,
      events: meant,
      network: [...network, ...connections].sort((a, b) => a.atMs - b.atMs),
    };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #meant(event: TracedEvent): TracedEvent {
    if (event.kind !== 'connect' && event.kind !== 'send') return event;
    const { address } = event;
    const name = address.family === 'inet' ? this.#names.get(address.host) : undefined;
    if (name === undefined) return event;
    const meant: NetworkAddress = {
      ...(address as { family: 'inet'; port: number }),
      host: name,
      isLocal: false,
    };
    return { ...event, address: meant };
  }

  #answerNames(socket: Datagrams): void {
    this.#sockets.add({ destroy: () => socket.close() });
    socket.unref();
    socket.on('error', () => undefined);
    const answer = (query: Buffer, { port, address }: RemoteInfo): void => {
      const name = readQueriedName(query);
      if (name === undefined) return;
      if (this.#queries.length < MAX_REQUESTS) this.#queries.push({ atMs: Date.now(), kind: 'dns', name });
      socket.send(buildDnsAnswer(query, name, this.#addressOf(name)), port, address, () => undefined);
    };
    // A query that fails here stays unanswered; those of other programs in the sandbox do not.
    socket.on('message', guardCallback({ name: 'observed process', end: () => undefined }, answer));
  }

  #answerPages(listener: Listener): void {
    this.#sockets.add({ destroy: () => listener.close() });
    listener.unref();
    listener.on('error', () => undefined);
    const receive = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.unref();
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
      this.#pages.emit('connection', socket);
    };
    listener.on('connection', (socket: Socket) =>
      guardCallback({ name: 'observed process', end: () => void socket.destroy() }, receive)(socket),
    );
  }

  /** Undefined if too many names were queried. */
  #addressOf(name: string): string | undefined {
    const known = this.#addresses.get(name);
    if (known !== undefined || this.#addresses.size >= MAX_NAMES) return known;
    const number = this.#addresses.size + 1;
    const address = `127.77.${number >> 8}.${number & 255}`;
    this.#addresses.set(name, address);
    this.#names.set(address, name);
    return address;
  }

  #note({ headers: { host = '' }, url = '' }: IncomingMessage): void {
    const path = url.replace(/\?.*$/s, '');
    const requested = (path.startsWith('/') ? `http://${host}${path}` : path).slice(0, MAX_URL);
    if (this.#requests.length < MAX_REQUESTS)
      this.#requests.push({ atMs: Date.now(), kind: 'http', url: requested });
  }
}

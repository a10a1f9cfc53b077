import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { facesOf, rpcErrorOf, type Refusal } from '../../core/errors.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Catalog } from '../../gateway/catalog.ts';
import type { Log, Meter } from '../../gateway/ports.ts';
import type { View } from '../../gateway/view.ts';
import * as headers from '../../protocol/headers.ts';
import { errorMessage } from '../../protocol/reply.ts';
import { guard, isLoopback, type Guard } from './guard.ts';
import { healthOf } from './health.ts';
import { sendJson } from './http-answer.ts';
import { answerPost } from './http-post.ts';
import { HttpStream } from './http-stream.ts';
import { sessionOf } from './legacy-post.ts';
import { readBody } from './read-body.ts';
import { sendMetrics } from './send-metrics.ts';
import { Sessions } from './session.ts';
import type { Subscription } from './subscription.ts';

export interface HttpDoorOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly token: string | undefined;
  readonly maxBodyBytes: number;
  readonly catalog: Catalog;
  readonly log: Log;
  /** What `/metrics` shows. */
  readonly meter: Meter;
}

export interface HttpDoor {
  /** Origin and port at which it listens. */
  readonly url: string;
  close(): Promise<void>;
}

const MOST_SESSIONS = 10_000;
const SHORTEST_TOKEN = 16;
/** A request must have arrived whole within this many ms, whatever trickles in. */
const REQUEST_LIMIT_MS = 60_000;
const HEADERS_LIMIT_MS = 20_000;
const CHECK_EVERY_MS = 5_000;
const IDLE_CONNECTION_MS = 65_000;

/** Opens the HTTP door; it answers from then on, whether servers stand or not. */
export async function openHttpDoor(options: HttpDoorOptions): Promise<Result<HttpDoor, Refusal>> {
  const { host, port, token, log } = options;
  if (!isLoopback(host) && (token === undefined || token.length < SHORTEST_TOKEN))
    return err({ code: 'ADDRESS_NEEDS_TOKEN', host });
  const door = new Door(options, () => server);
  const server: HttpServer = createServer(
    {
      requestTimeout: REQUEST_LIMIT_MS,
      headersTimeout: HEADERS_LIMIT_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      noDelay: true,
    },
    (request, response) => {
      door.answer(request, response).catch((error: unknown) => {
        log.error('a request failed inside Assay', {
          error: error instanceof Error ? error.stack : String(error),
        });
        sendRefusal(response, { code: 'INTERNAL' });
      });
    },
  );
  const listening = await listen(server, host, port);
  if (!listening.ok) return listening;
  const shown = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return ok({
    url: `http://${shown}:${listening.value}`,
    close: () => {
      door.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 1_000).unref();
      });
    },
  });
}

function listen(server: HttpServer, host: string, port: number): Promise<Result<number, Refusal>> {
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

class Door {
  readonly #options: HttpDoorOptions;
  readonly #server: () => HttpServer;
  readonly #guard: Guard;
  readonly #sessions = new Sessions(MOST_SESSIONS);
  readonly #subscriptions = new Set<Subscription>();
  readonly #startedMs = Date.now();

  constructor(options: HttpDoorOptions, server: () => HttpServer) {
    this.#options = options;
    this.#server = server;
    this.#guard = guard(options);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const refused = this.#guard(request);
    if (
      path === '/health' &&
      request.method === 'GET' &&
      (refused === undefined || refused.code === 'TOKEN_REQUIRED')
    ) {
      this.#answerHealth(response, refused === undefined);
      return;
    }
    if (refused !== undefined) {
      sendRefusal(response, refused);
      return;
    }
    const view = this.#viewAt(path);
    if (path === '/metrics') await this.#answerMetrics(request, response);
    else if (view === undefined)
      sendRefusal(response, { code: 'ENDPOINT_UNKNOWN', path, known: this.#paths() });
    else if (request.method === 'POST') await this.#post(request, response, view);
    else if (request.method === 'GET') this.#get(request, response, view);
    else if (request.method === 'DELETE') this.#delete(request, response, view);
    else
      sendRefusal(response, {
        code: 'HTTP_METHOD_UNKNOWN',
        method: request.method ?? '',
        allowed: 'GET, POST, DELETE',
      });
  }

  close(): void {
    for (const subscription of [...this.#subscriptions]) subscription.finish();
    this.#sessions.closeStreams();
  }

  #viewAt(path: string): View | undefined {
    const { catalog } = this.#options;
    if (path === '/mcp' || path === '/mcp/all') return catalog.all;
    const name = /^\/mcp\/servers\/([^/]+)$/.exec(path)?.[1];
    return name === undefined ? undefined : catalog.of(decoded(name));
  }

  #paths(): readonly string[] {
    const names = this.#options.catalog.servers.map(
      ({ spec }) => `/mcp/servers/${encodeURIComponent(spec.name)}`,
    );
    return ['/mcp', '/mcp/all', ...names, '/health', '/metrics'];
  }

  async #post(request: IncomingMessage, response: ServerResponse, view: View): Promise<void> {
    const type = request.headers['content-type'] ?? '';
    const { accept } = request.headers;
    if (!/^application\/json\s*(?:;|$)/i.test(type)) {
      sendRefusal(response, { code: 'MEDIA_TYPE_UNKNOWN', type });
    } else if (
      !headers.accepts(accept, 'application/json') &&
      !headers.accepts(accept, 'text/event-stream')
    ) {
      sendRefusal(response, { code: 'NOT_ACCEPTABLE' });
    } else {
      const body = await readBody(request, this.#options.maxBodyBytes);
      if (body === undefined) return;
      if (body.ok)
        await answerPost({
          request,
          response,
          body: body.value,
          view,
          sessions: this.#sessions,
          subscriptions: this.#subscriptions,
        });
      else refuseLarge(request, response, body.error);
    }
  }

  /** The stream on which a legacy client hears what belongs to none of its requests. */
  #get(request: IncomingMessage, response: ServerResponse, view: View): void {
    if (!headers.accepts(request.headers.accept, 'text/event-stream')) {
      sendRefusal(response, { code: 'NOT_ACCEPTABLE' });
      return;
    }
    if (request.headers[headers.SESSION_ID] === undefined) {
      sendRefusal(response, {
        code: 'HTTP_METHOD_UNKNOWN',
        method: 'GET',
        allowed: 'POST',
      });
      return;
    }
    const session = sessionOf({ request, response, view, sessions: this.#sessions }, undefined);
    if (session === undefined) return;
    // A client that lost its connection may be back before the old stream is known to be dead: the newer one counts.
    session.closeStream();
    const stream: HttpStream = new HttpStream(response, () => session.detach(stream.send));
    session.attach(stream.send, stream.close);
  }

  #delete(request: IncomingMessage, response: ServerResponse, view: View): void {
    if (request.headers[headers.SESSION_ID] === undefined) {
      sendRefusal(response, {
        code: 'HTTP_METHOD_UNKNOWN',
        method: 'DELETE',
        allowed: 'POST',
      });
      return;
    }
    const session = sessionOf({ request, response, view, sessions: this.#sessions }, undefined);
    if (session === undefined) return;
    this.#sessions.end(session);
    response.writeHead(204).end();
  }

  async #answerMetrics({ method }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { size: sessions } = this.#sessions;
    const { size: subscriptions } = this.#subscriptions;
    if (method === 'GET')
      await sendMetrics(response, { ...this.#options, door: this.#server(), sessions, subscriptions });
    else sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method: method ?? '', allowed: 'GET' });
  }

  /** Without the token, where one is needed, only that the door is open. */
  #answerHealth(response: ServerResponse, isFull: boolean): void {
    const health = healthOf(this.#options.catalog, Date.now() - this.#startedMs);
    const shown = isFull ? health : { status: health.status };
    sendJson(response, 200, {
      headers: { 'cache-control': 'no-store' },
      pieces: [Buffer.from(JSON.stringify(shown))],
    });
  }
}

function pathOf(request: IncomingMessage): string {
  const path = request.url ?? '/';
  const query = path.indexOf('?');
  const bare = query < 0 ? path : path.slice(0, query);
  return bare.length > 1 && bare.endsWith('/') ? bare.slice(0, -1) : bare;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** How long in ms a client is listened to that sends more than it may, so that it comes to read why it is refused. */
const OVERHEAR_MS = 3_000;

/** Says why, and lets the client finish: a connection that is closed while it still sends is lost with the answer. */
function refuseLarge(request: IncomingMessage, response: ServerResponse, what: Refusal): void {
  const bytes = errorMessage(undefined, rpcErrorOf(what, true), 'legacy');
  response.writeHead(facesOf(what).http, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    connection: 'close',
  });
  response.write(bytes);
  const limit = setTimeout(() => response.end(), OVERHEAR_MS);
  request.once('close', () => clearTimeout(limit));
  request.once('end', () => response.end());
  request.resume();
}

/** A refusal before the message was looked at; it carries no id. */
function sendRefusal(response: ServerResponse, what: Refusal): void {
  const extra: Record<string, string> = {};
  if (what.code === 'TOKEN_REQUIRED') extra['www-authenticate'] = 'Bearer';
  if (what.code === 'HTTP_METHOD_UNKNOWN') extra['allow'] = what.allowed;
  // What is left of a body that was not read would be taken for the next request.
  extra['connection'] = 'close';
  const bytes = errorMessage(undefined, rpcErrorOf(what, true), 'legacy');
  sendJson(response, facesOf(what).http, { headers: extra, pieces: [bytes] });
}

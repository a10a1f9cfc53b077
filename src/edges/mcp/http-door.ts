import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { facesOf, rpcErrorOf, type Refusal } from '../../core/errors.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Settings } from '../../core/settings.ts';
import type { Catalog } from '../../gateway/catalog.ts';
import type { Log } from '../../gateway/ports.ts';
import type { View } from '../../gateway/view.ts';
import * as headers from '../../protocol/headers.ts';
import { errorMessage } from '../../protocol/reply.ts';
import { ClientLoads } from './client-load.ts';
import { Connections } from './connections.ts';
import { guard, isLoopback, type Guard } from './guard.ts';
import { healthOf } from './health.ts';
import { sendJson } from './http-answer.ts';
import { answerPost } from './http-post.ts';
import { HttpStream } from './http-stream.ts';
import { sessionOf } from './legacy-post.ts';
import { readBody } from './read-body.ts';
import { Sessions } from './session.ts';
import type { Subscription } from './subscription.ts';

export interface HttpDoorOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly token: string | undefined;
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly log: Log;
}

export interface HttpDoor {
  /** Origin and port at which it listens. */
  readonly url: string;
  close(): Promise<void>;
}

const SHORTEST_TOKEN = 16;
/** How often in ms Node looks for requests that take too long: more often where they may take less, within reason. */
const CHECK_EVERY_MS = { least: 100, most: 5_000 };

/** Opens the HTTP door; it answers from then on, whether servers stand or not. */
export async function openHttpDoor(options: HttpDoorOptions): Promise<Result<HttpDoor, Refusal>> {
  const { host, port, token, settings, log } = options;
  if (!isLoopback(host) && (token === undefined || token.length < SHORTEST_TOKEN))
    return err({ code: 'ADDRESS_NEEDS_TOKEN', host });
  const door = new Door(options);
  const server = createServer({ ...timeLimits(settings), noDelay: true }, (request, response) => {
    door.answer(request, response).catch((error: unknown) => {
      log.error('a request failed inside Assay', {
        error: error instanceof Error ? error.stack : String(error),
      });
      sendRefusal(response, { code: 'INTERNAL' });
    });
  });
  new Connections({ limits: settings, log }).watch(server);
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

/** Node refuses to start where headers may take longer than the whole. */
function timeLimits(settings: Settings): ServerOptions {
  const requestTimeout = settings['limits.requestMs'];
  const headersTimeout = Math.min(settings['limits.headersMs'], requestTimeout);
  return {
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.max(
      CHECK_EVERY_MS.least,
      Math.min(CHECK_EVERY_MS.most, headersTimeout),
    ),
    keepAliveTimeout: settings['limits.idleConnectionMs'],
  };
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
  readonly #guard: Guard;
  readonly #sessions: Sessions;
  readonly #loads: ClientLoads;
  readonly #subscriptions = new Set<Subscription>();
  readonly #startedMs = Date.now();

  constructor(options: HttpDoorOptions) {
    this.#options = options;
    this.#guard = guard(options);
    this.#sessions = new Sessions(options.settings);
    this.#loads = new ClientLoads(options.settings['limits.requestsPerClient']);
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
    if (view === undefined) sendRefusal(response, { code: 'ENDPOINT_UNKNOWN', path, known: this.#paths() });
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
    return ['/mcp', '/mcp/all', ...names, '/health'];
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
      const { settings } = this.#options;
      const body = await readBody(request, settings['limits.bodyBytes']);
      if (body === undefined) return;
      if (body.ok)
        await answerPost({
          request,
          response,
          body: body.value,
          view,
          settings,
          sessions: this.#sessions,
          loads: this.#loads,
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
    const mostUnreadBytes = this.#options.settings['limits.unreadBytes'];
    const onClose = (): void => session.detach(stream.send);
    const stream: HttpStream = new HttpStream(response, { mostUnreadBytes, onClose });
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

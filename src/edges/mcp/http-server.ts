import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { isAboutTokens } from '../../core/challenge.ts';
import { protectionOf, type ProtectedResource } from '../../core/protected-resource.ts';
import { Cancellation } from '../../core/cancellation.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { allows, type Holder, type Identity } from '../../core/subject.ts';
import type { Settings } from '../../core/settings.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { Gate, Log } from '../../gateway/ports/link.ts';
import type { Meter } from '../../gateway/ports/telemetry.ts';
import type { ToolsetViews } from '../../gateway/services/configuration-tools/toolset-views.ts';
import * as headers from '../../protocol/headers.ts';
import { ClientLoads } from './client-load.ts';
import { Connections } from './connections.ts';
import { knownPaths, type OtherPaths, pathOf, readTarget, viewAt } from './request-path.ts';
import { guard, isLoopback, placeFault, type Guard } from './guard.ts';
import { healthOf, sendMetrics } from './health.ts';
import { sendJson } from './http-answer.ts';
import { answerPost } from './http-post.ts';
import { answerMetadata, refuseLarge, sendRefusal } from './http-refusal.ts';
import type { OpenSubscription, Post } from './http-request.ts';
import { answerDelete, answerGet, type SessionVisit } from './legacy-get.ts';
import { listen } from './subscription.ts';
import { namesModern } from './modern-rules.ts';
import { readBody } from './read-message.ts';
import { Sessions } from './session.ts';
import { timeLimits } from './time-limits.ts';
import { OpenRequests } from './in-flight.ts';

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Whether MCP endpoints need no token; beyond loopback they always do. */
  readonly isOpen: boolean;
  readonly gate: Gate;
  /** Undefined: no issuer is known, and nothing is told of where tokens are to be had. */
  readonly resource?: ProtectedResource | undefined;
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly views: ToolsetViews;
  readonly log: Log;
  /** What `/metrics` shows. */
  readonly meter: Meter;
  readonly others: OtherPaths;
  readonly storeFault?: (() => string | undefined) | undefined;
}

export interface McpHttpServer {
  /** Origin and port at which it listens. */
  readonly url: string;
  /** Takes no new request, lets those under way end within `limits.drainMs`, and closes all connections. */
  close(): Promise<void>;
}

const IS_OWN = /^\/(?:mcp|health|metrics)(?:\/|$)/;

/** How often in ms streams and sessions are looked at: whether their token still holds, and whether somebody uses them. */
const LOOK_EVERY_MS = 2_000;

/** Opens the HTTP door; it answers from then on, whether servers stand or not. */
export async function openHttpServer(options: HttpServerOptions): Promise<Result<McpHttpServer, Refusal>> {
  const { host, port, gate, settings, log } = options;
  if (!isLoopback(host) && !gate.isFitForNetwork(Date.now()))
    return err({ code: 'ADDRESS_NEEDS_TOKEN', host });
  const connections = new Connections({ limits: settings, log });
  const door = new McpServer(options, connections, () => server);
  // An import of node:http loads all of Node's own undici, for the exports that are its classes.
  const { createServer } = process.getBuiltinModule('node:http');
  const server: HttpServer = createServer({ ...timeLimits(settings), noDelay: true }, (request, response) => {
    door.answer(request, response).catch((error: unknown) => {
      log.error('a request failed inside Assay', {
        error: error instanceof Error ? error.stack : String(error),
      });
      sendRefusal(response, { code: 'INTERNAL' });
    });
  });
  // Beyond Node's 2,000 a second Host would be dropped unseen; their bytes are bounded anyhow.
  server.maxHeadersCount = 0;
  connections.watch(server);
  const listening = await listen(server, host, port);
  if (!listening.ok) return listening;
  const shown = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return ok({
    url: `http://${shown}:${listening.value}`,
    close: async () => {
      await door.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 1_000).unref();
      });
    },
  });
}

class McpServer {
  readonly #options: HttpServerOptions;
  readonly #server: () => HttpServer;
  readonly #guard: Guard;
  readonly #closedGuard: Guard;
  readonly #sessions: Sessions;
  readonly #loads: ClientLoads;
  readonly #openRequests = new OpenRequests();
  readonly #subscriptions = new Set<OpenSubscription>();
  readonly #connections: Connections;
  readonly #looking: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  readonly #startedMs = performance.now();

  constructor(options: HttpServerOptions, connections: Connections, server: () => HttpServer) {
    this.#options = options;
    this.#server = server;
    this.#guard = guard(options);
    this.#closedGuard = guard({ ...options, isOpen: false });
    this.#sessions = new Sessions(options.settings);
    this.#loads = new ClientLoads(options.settings);
    this.#connections = connections;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    this.#unsubscribe = options.gate.onTokens(() => this.#endOthers(Date.now()));
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = readTarget(request);
    if (!target.ok) {
      await this.#refuseTarget(request, response, target.error);
      return;
    }
    // Whatever reads the target from here on reads this.
    request.url = target.value;
    const path = pathOf(request);
    if (!IS_OWN.test(path)) {
      await this.#answerElsewhere(request, response, path);
      return;
    }
    const given = this.#guard(request);
    // Nothing waits but what must: with any other token the whole of this runs at once.
    const admitted = given instanceof Promise ? await given : given;
    if (request.socket.destroyed) return;
    if (path === '/health' && request.method === 'GET' && (admitted.ok || isAboutTokens(admitted.error))) {
      this.#answerHealth(response, admitted.ok && allows(admitted.value, 'read'));
      return;
    }
    if (!admitted.ok) {
      this.#refuse(response, admitted.error);
      return;
    }
    const identity = admitted.value;
    const { subject } = identity;
    if (!this.#connections.admit(response, identity)) {
      this.#refuse(response, this.#connections.limit);
      return;
    }
    this.#options.log.debug('a request came in', { subject, path });
    const view = viewAt(this.#options, path);
    if (path === '/metrics') await this.#answerMetrics(request, response, admitted.value);
    else if (!allows(admitted.value, 'mcp')) this.#refuse(response, { code: 'SCOPE_MISSING', scope: 'mcp' });
    else if (view === undefined)
      sendRefusal(response, { code: 'ENDPOINT_UNKNOWN', path, known: knownPaths(this.#options) });
    else if (request.method === 'POST') await this.#post(request, response, { view, identity });
    // The modern era has neither streams to open nor sessions to end (2026-07-28, basic/transports/streamable-http).
    else if (namesModern(request))
      sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method: request.method ?? '', allowed: 'POST' });
    else if (request.method === 'GET') answerGet(this.#visit(request, response, { view, identity }));
    else if (request.method === 'DELETE') answerDelete(this.#visit(request, response, { view, identity }));
    else
      sendRefusal(response, {
        code: 'HTTP_METHOD_UNKNOWN',
        method: request.method ?? '',
        allowed: 'GET, POST, DELETE',
      });
  }

  /** In the form of an error of the API that was probably meant. */
  async #refuseTarget(request: IncomingMessage, response: ServerResponse, reason: string): Promise<void> {
    const refusal = { code: 'TARGET_INVALID', reason } as const;
    const isOwn = IS_OWN.test(request.url ?? '');
    request.url = '/';
    if (isOwn) sendRefusal(response, refusal);
    else await this.#options.others.answer(request, response, err(refusal));
  }

  async #answerElsewhere(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { host, log, others, resource } = this.#options;
    const isPlaced = placeFault(request, isLoopback(host)) === undefined;
    if (isPlaced && resource !== undefined && answerMetadata(request, response, { path, resource })) return;
    const given = this.#closedGuard(request);
    const admitted = given instanceof Promise ? await given : given;
    if (request.socket.destroyed) return;
    if (admitted.ok) log.debug('a request came in', { subject: admitted.value.subject, path });
    if (admitted.ok && !this.#connections.admit(response, admitted.value)) {
      this.#refuse(response, this.#connections.limit);
      return;
    }
    const place = this.#openRequests.begin(new Cancellation());
    await others.answer(request, response, admitted).finally(() => this.#openRequests.end(place));
  }

  /** Says also where a token is to be had, if an issuer is known. */
  #refuse(response: ServerResponse, what: Refusal): void {
    const { resource } = this.#options;
    const { method = '', headers } = response.req;
    const asked = { path: pathOf(response.req), method, host: headers.host ?? '' };
    sendRefusal(response, what, resource && protectionOf(resource, asked));
  }

  /** Takes no new request, waits for the answers to those under way, and then ends what would last. */
  async close(): Promise<void> {
    const drained = this.#openRequests.drain(this.#options.settings['limits.drainMs']);
    for (const subscription of [...this.#subscriptions]) subscription.end();
    this.#options.others.close();
    await drained;
    clearInterval(this.#looking);
    this.#unsubscribe();
    this.#sessions.endAll();
  }

  #visit(request: IncomingMessage, response: ServerResponse, visit: Visit): SessionVisit {
    return { request, response, ...visit, sessions: this.#sessions, openRequests: this.#openRequests };
  }

  #look(): void {
    this.#endOthers(Date.now());
    this.#sessions.sweep(performance.now());
  }

  /** What was opened with a token ends with it: at once where it was revoked here, else when that is known. */
  #endOthers(nowMs: number): void {
    const { gate } = this.#options;
    const isHolder = (holder: Holder): boolean => gate.isHolder(holder, 'mcp', nowMs);
    this.#sessions.endOthers(isHolder);
    for (const open of [...this.#subscriptions]) if (!isHolder(open.holder)) open.end();
    this.#connections.endOthers((holder) => gate.isHolder(holder, undefined, nowMs));
  }

  async #post(request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<void> {
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
          view: visit.view,
          identity: visit.identity,
          settings,
          sessions: this.#sessions,
          loads: this.#loads,
          subscriptions: this.#subscriptions,
          openRequests: this.#openRequests,
        });
      else refuseLarge(request, response, body.error);
    }
  }

  async #answerMetrics({ method }: IncomingMessage, response: ServerResponse, who: Identity): Promise<void> {
    const { size: sessions } = this.#sessions;
    const { size: subscriptions } = this.#subscriptions;
    if (!allows(who, 'read')) this.#refuse(response, { code: 'SCOPE_MISSING', scope: 'read' });
    else if (method === 'GET')
      await sendMetrics(response, { ...this.#options, door: this.#server(), sessions, subscriptions });
    else sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method: method ?? '', allowed: 'GET' });
  }

  /** To who may not read more, only that the door is open. */
  #answerHealth(response: ServerResponse, isFull: boolean): void {
    const uptimeMs = Math.round(performance.now() - this.#startedMs);
    const { catalog, storeFault } = this.#options;
    const { isStopping } = this.#openRequests;
    const health = healthOf(catalog, { uptimeMs, isStopping, storeFault: storeFault?.() });
    const shown = isFull ? health : { status: health.status };
    sendJson(response, 200, {
      headers: { 'cache-control': 'no-store' },
      pieces: [Buffer.from(JSON.stringify(shown))],
    });
  }
}

/** Who comes to which endpoint. */
type Visit = Pick<Post, 'view' | 'identity'>;

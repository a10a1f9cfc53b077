import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { BodyBudget } from '../../core/body-budget.ts';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { isAboutTokens } from '../../core/challenge.ts';
import { STOP_TARGET } from '../../core/attach.ts';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import { computeProtection, type ProtectedResource } from '../../core/protected-resource.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Settings } from '../../core/settings.ts';
import { allows, type Holder, type Identity, LOCAL_OPERATOR, LOCAL_USER } from '../../core/subject.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { Gate } from '../../gateway/ports/gate.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { EventLog } from '../../gateway/ports/event-log.ts';
import type { Meter, PendingApprovals, Readings } from '../../gateway/ports/telemetry.ts';
import type { Relay } from '../../gateway/relay/call.ts';
import type { ToolsetViews } from '../../gateway/services/configuration-tools/toolset-views.ts';
import { listenLocally, type LocalSocket, type SocketPlace } from '@assay-mcp/kit/platform/local-socket';
import { pause } from '@assay-mcp/kit/platform/pause';
import * as headers from '@assay-mcp/protocol/headers';
import { AccessEvents } from './access-events.ts';
import type { AttachedClients } from './attached-clients.ts';
import { ConnectionOwners } from './connection-owners.ts';
import { ClientLoads } from './client-load.ts';
import { listConnectedClients } from './connected-clients.ts';
import { Connections } from './connections.ts';
import { answerCors, createCors, type CorsOptions } from './cors.ts';
import { createGuard, isLoopback, findOriginFault, findPageFault, type Guard } from './guard.ts';
import { answerDiscovery } from './discovery.ts';
import { FixedRoutes } from './fixed-routes.ts';
import { closeListener, stopListening, waitForDisconnection } from './close-listener.ts';
import { buildTimeLimits, createListener, type HttpListener } from './http-listener.ts';
import { guardHandler, refuseMethod, sendRefusal } from './http-answer.ts';
import { receivePost } from './http-post.ts';
import type { OpenSubscription, Post } from './http-request.ts';
import { OpenRequests } from './in-flight.ts';
import { answerWithoutBody, openStream } from './legacy-get.ts';
import { namesModern } from './modern-rules.ts';
import {
  isEndpointPath,
  isMcpPath,
  isSsePath,
  listKnownPaths,
  type RestHandler,
  getRequestPath,
  readTarget,
  findViewAt,
} from './request-path.ts';
import { Sessions, type LastingSessions } from './sessions.ts';
import { SseClients } from './sse-clients.ts';
import { TokenNotices } from './token-notices.ts';
import { WaitingStreams } from './waiting-streams.ts';

export interface HttpServerOptions {
  readonly host: string;
  /** 0 selects any free port. Undefined: it listens at the socket of the home only, until `listen` is called. */
  readonly port: number | undefined;
  /** Whether MCP endpoints need no token. Beyond loopback they always need one. */
  readonly isOpen: boolean;
  readonly gate: Gate;
  /** One that listens already. */
  readonly listener?: HttpListener | undefined;
  /** If undefined, no issuer is known, and responses do not say where to get tokens. */
  readonly resource?: ProtectedResource | undefined;
  readonly settings: Settings;
  readonly limits?: Partial<FixedLimits> | undefined;
  readonly catalog: Catalog;
  readonly relay: Relay;
  readonly views: ToolsetViews;
  readonly lasting: LastingSessions;
  readonly log: Log;
  /** The source for `/metrics`. */
  readonly meter: Meter;
  readonly rest: RestHandler;
  /** The memory for request bodies, shared with the REST API. */
  readonly bodies: BodyBudget;
  readonly storeFault?: (() => Refusal | undefined) | undefined;
  /** Whether what was read from the store is too old to decide on access. */
  readonly isStoreStale?: (() => boolean) | undefined;
  /** Undefined if the store cannot say. */
  readonly readApprovals: () => Promise<PendingApprovals | undefined>;
  /** Takes an event for each request. */
  readonly events?: EventLog | undefined;
  readonly keyFault?: (() => Refusal | undefined) | undefined;
  /** Where the socket for the operator's commands may be. */
  readonly place: SocketPlace;
  /** Speaks with the clients that attach at that socket. */
  readonly attached: AttachedClients;
  /** Called when a command asks this process to stop. */
  readonly onStop: () => void;
}

export interface McpHttpServer {
  /** Origin and port on which it listens. Undefined if it listens at the socket of the home only. */
  readonly url: string | undefined;
  /** The socket at which it serves the REST API to the operator's commands. Undefined if it could not be opened. */
  readonly socket: string | undefined;
  readonly clients: () => ReturnType<typeof listConnectedClients>;
  readonly readings: () => Promise<Readings>;
  /** Listens on a port too, if it does not yet. Resolves to the URL. ADDRESS_UNUSABLE */
  listen(port: number): Promise<Result<string, Refusal>>;
  /** Whether a client is connected or a request is in progress. */
  readonly isBusy: boolean;
  /** Refuses new requests, gives open ones `limits.drainMs` to finish, and closes all connections. */
  close(): Promise<void>;
}

/** Maximum number of commands and attached clients that are connected at a time. Clients may take 256 of them. */
const MAX_LOCAL_CONNECTIONS = 320;
/** How often tokens of streams and sessions are rechecked and idle sessions are ended. */
const SWEEP_INTERVAL_MS = 2_000;

/** Starts the HTTP server. It answers at once, even if upstream servers are not ready. */
export async function openHttpServer(options: HttpServerOptions): Promise<Result<McpHttpServer, Refusal>> {
  const { host, port, gate, settings, log } = options;
  if (!isLoopback(host) && !gate.isFitForNetwork(Date.now()))
    return err({ code: 'ADDRESS_NEEDS_TOKEN', host });
  const access = options.events && new AccessEvents(options.events);
  const connections = new Connections({
    ...{ limits: { ...settings, ...options.limits }, log },
    onAdmitted: access?.identify,
  });
  const mcpServer = new McpServer(options, connections, () => listener.httpServer);
  // Importing node:http loads all of Node's bundled undici, for its re-exported classes.
  const { createServer } = process.getBuiltinModule('node:http');
  const listener: HttpListener = options.listener ?? createListener(options);
  const { httpServer } = listener;
  connections.watch(httpServer);
  listener.answerWith((request, response) => mcpServer.answer(request, response));
  access?.watch(httpServer);
  let url: string | undefined;
  const open = async (given: number): Promise<Result<string, Refusal>> => {
    if (url !== undefined) return ok(url);
    const listening = await listener.listen(given);
    if (!listening.ok) return listening;
    url = formatOrigin(host, listening.value);
    return ok(url);
  };
  const opened = port === undefined ? ok(undefined) : await open(port);
  if (!opened.ok) return opened;
  const localServer: HttpServer = createServer(
    buildTimeLimits(options.limits),
    guardHandler(log, (request, response) => mcpServer.answerLocal(request, response)),
  );
  localServer.maxHeadersCount = 0;
  access?.watch(localServer, LOCAL_USER.subject);
  localServer.maxConnections = MAX_LOCAL_CONNECTIONS;
  localServer.on('upgrade', (request, socket, head) => options.attached.accept(request, socket, head));
  const local = await openLocal(localServer, options);
  return ok({
    get url() {
      return url;
    },
    socket: local?.path,
    clients: () => [...mcpServer.clients(), ...options.attached.all],
    readings: () => mcpServer.readings(),
    listen: open,
    get isBusy() {
      return mcpServer.isBusy || options.attached.size > 0;
    },
    close: async () => {
      await Promise.all([mcpServer.close(), options.attached.close()]);
      await Promise.all([
        url !== undefined && closeListener(httpServer),
        local && closeListener(localServer),
      ]);
      await local?.remove();
    },
  });
}

async function openLocal(
  server: HttpServer,
  { place, log }: HttpServerOptions,
): Promise<LocalSocket | undefined> {
  const opened = await listenLocally(server, place);
  if (opened.ok) return opened.value;
  log.warn('there is no socket for commands of this home, so they work beside this process', {
    cause: opened.error.reason,
  });
  return undefined;
}

class McpServer {
  readonly #options: HttpServerOptions;
  readonly #routes: FixedRoutes;
  readonly #guard: Guard;
  /** For MCP endpoints, which pages of other origins may use if `mcp.allowedOrigins` lists them. */
  readonly #endpointGuard: Guard;
  readonly #cors: CorsOptions;
  readonly #closedGuard: Guard;
  readonly #sessions: Sessions;
  readonly #loads: ClientLoads;
  readonly #owners: ConnectionOwners;
  readonly #sse: SseClients;
  readonly #openRequests = new OpenRequests();
  readonly #subscriptions = new Set<OpenSubscription>();
  readonly #connections: Connections;
  readonly #tokenNotices: TokenNotices;
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  readonly #server: () => HttpServer;
  readonly #waiting: WaitingStreams;
  #isLeaving = false;
  #givesUpConnections = false;

  constructor(options: HttpServerOptions, connections: Connections, httpServer: () => HttpServer) {
    this.#options = options;
    this.#server = httpServer;
    this.#routes = new FixedRoutes({
      ...options,
      httpServer,
      isStopping: () => this.#isLeaving || this.#openRequests.isStopping,
      counts: () => ({ sessions: this.#sessions.size, subscriptions: this.#subscriptions.size }),
      refuse: (response, what) => this.#refuse(response, what),
    });
    this.#cors = createCors(options);
    const { allowedOrigins } = this.#cors;
    this.#guard = createGuard(options);
    this.#endpointGuard = createGuard({ ...options, allowedOrigins });
    this.#closedGuard = createGuard({ ...options, isOpen: false, sessions: options.rest.sessions });
    const limits = { ...options.settings, ...options.limits };
    this.#sessions = new Sessions(limits, options.lasting);
    this.#loads = new ClientLoads(limits);
    this.#owners = new ConnectionOwners((id) => options.catalog.endLinksOf(id));
    this.#sse = new SseClients({ ...options, sessions: this.#sessions, openRequests: this.#openRequests });
    this.#connections = connections;
    this.#waiting = new WaitingStreams(options.settings);
    this.#tokenNotices = new TokenNotices(options);
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
    this.#unsubscribe = options.gate.onTokens(() => this.#endOthers(Date.now()));
  }

  clients(): ReturnType<typeof listConnectedClients> {
    return listConnectedClients(this.#sessions.all, this.#subscriptions, this.#loads.recent.all);
  }

  get isBusy(): boolean {
    const isInUse = [...this.#sessions.all].some(({ isIdle }) => !isIdle);
    return isInUse || this.#openRequests.size > 0 || this.#subscriptions.size > 0;
  }

  /** Runs synchronously up to the body of a request, unless its token has to be looked up. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#givesUpConnections) response.shouldKeepAlive = false;
    const target = readTarget(request);
    if (!target.ok) return this.#refuseTarget(request, response, target.error);
    // All later code reads the normalized target.
    request.url = target.value;
    const path = getRequestPath(request);
    if (!isMcpPath(path, this.#options.settings['mcp.sse'])) return this.#answerRest(request, response, path);
    const isEndpoint = isEndpointPath(path);
    if (isEndpoint && answerCors(request, response, this.#cors)) return Promise.resolve();
    const guard = isEndpoint ? this.#endpointGuard : this.#guard;
    const given = guard(request);
    if (given instanceof Promise)
      return given.then((admitted) => this.#answerOwnPath(request, response, { path, admitted, guard }));
    return this.#answerOwnPath(request, response, { path, admitted: given, guard });
  }

  #answerOwnPath(request: IncomingMessage, response: ServerResponse, own: OwnPath): Promise<void> {
    const { path, admitted } = own;
    if (request.socket.destroyed) return Promise.resolve();
    if (path === '/health' && request.method === 'GET' && (admitted.ok || isAboutTokens(admitted.error))) {
      this.#routes.sendHealth(response, admitted.ok && allows(admitted.value, 'read'));
      return Promise.resolve();
    }
    if (!admitted.ok) {
      if (this.#wait(request, response, own, admitted.error)) return Promise.resolve();
      this.#tokenNotices.note(request, path, admitted.error);
      this.#refuse(response, admitted.error);
      return Promise.resolve();
    }
    const identity = admitted.value;
    if (!this.#connections.admit(response, identity)) {
      this.#refuse(response, this.#connections.limit);
      return Promise.resolve();
    }
    this.#options.log.debug('a request came in', { subject: identity.subject, path });
    if (path === '/metrics') return this.#routes.answerMetrics(request, response, identity);
    const view = findViewAt(this.#options, path);
    if (!allows(identity, 'mcp')) this.#refuse(response, { code: 'SCOPE_MISSING', scope: 'mcp' });
    else if (view === undefined)
      sendRefusal(response, { code: 'ENDPOINT_UNKNOWN', path, known: listKnownPaths(this.#options) });
    else if (isSsePath(path)) return this.#sse.answer({ request, response, view, identity });
    else if (request.method === 'POST') return this.#post(request, response, { view, identity });
    // The modern era has no streams to open and no sessions to end (2026-07-28, basic/transports/streamable-http).
    else if (namesModern(request)) refuseMethod(response, 'POST');
    else
      return answerWithoutBody({
        ...{ request, response, view, identity, relay: this.#options.relay },
        ...{ sessions: this.#sessions, openRequests: this.#openRequests },
        wait: (refusal) => this.#wait(request, response, own, refusal),
      });
    return Promise.resolve();
  }

  #wait(request: IncomingMessage, response: ServerResponse, own: OwnPath, refusal: Refusal): boolean {
    const retry = (): Promise<Refusal | undefined> => this.#openStream(request, response, own);
    return this.#waiting.add({ request, response, refusal, retry });
  }

  /** Opens a stream that waited for the store, after all that any request has to pass. */
  async #openStream(
    request: IncomingMessage,
    response: ServerResponse,
    { path, guard }: OwnPath,
  ): Promise<Refusal | undefined> {
    const admitted = await guard(request);
    if (!admitted.ok) return admitted.error;
    const identity = admitted.value;
    if (!allows(identity, 'mcp')) return { code: 'SCOPE_MISSING', scope: 'mcp' };
    const view = findViewAt(this.#options, path);
    if (view === undefined) return { code: 'ENDPOINT_UNKNOWN', path, known: listKnownPaths(this.#options) };
    if (!this.#connections.admit(response, identity)) return this.#connections.limit;
    return await openStream({
      ...{ request, response, view, identity, relay: this.#options.relay },
      ...{ sessions: this.#sessions, openRequests: this.#openRequests },
    });
  }

  /** Refuses in the error format of the API that was probably meant. */
  async #refuseTarget(request: IncomingMessage, response: ServerResponse, reason: string): Promise<void> {
    const refusal = { code: 'TARGET_INVALID', reason } as const;
    const isMcp = isMcpPath(request.url ?? '', this.#options.settings['mcp.sse']);
    request.url = '/';
    if (isMcp) sendRefusal(response, refusal);
    else await this.#options.rest.answer(request, response, err(refusal));
  }

  async #answerRest(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { log, resource, settings } = this.#options;
    const isOwnOrigin = findOriginFault(request, this.#cors.isLocal(request)) === undefined;
    if (isOwnOrigin && this.#routes.answerProbe(request, response, path)) return;
    if (answerDiscovery(request, response, { path, resource, cors: this.#cors, settings })) return;
    const given = this.#closedGuard(request);
    const admitted = given instanceof Promise ? await given : given;
    if (request.socket.destroyed) return;
    if (!admitted.ok) this.#tokenNotices.count(request, admitted.error);
    if (admitted.ok) log.debug('a request came in', { subject: admitted.value.subject, path });
    if (admitted.ok && !this.#connections.admit(response, admitted.value)) {
      this.#refuse(response, this.#connections.limit);
      return;
    }
    await this.#passOn(request, response, admitted);
  }

  /** Answers a request at the socket of the home: whoever can connect to it is the local operator. */
  async answerLocal(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = readTarget(request);
    if (!target.ok) return this.#refuseTarget(request, response, target.error);
    request.url = target.value;
    const fault = findOriginFault(request, true) ?? findPageFault(request);
    const path = getRequestPath(request);
    if (fault === undefined && this.#routes.answerProbe(request, response, path)) return;
    if (fault === undefined && path === '/health' && request.method === 'GET')
      this.#routes.sendHealth(response, true);
    else if (fault === undefined && path === STOP_TARGET && request.method === 'POST') {
      response.writeHead(202).end();
      this.#options.onStop();
    } else if (fault === undefined && isMcpPath(path, false))
      await this.#answerOwnPath(request, response, {
        path,
        admitted: ok(LOCAL_USER),
        guard: () => ok(LOCAL_USER),
      });
    else await this.#passOn(request, response, fault === undefined ? ok(LOCAL_OPERATOR) : err(fault));
  }

  async #passOn(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Result<Identity, Refusal>,
  ): Promise<void> {
    const openId = this.#openRequests.begin(new Cancellation());
    await this.#options.rest
      .answer(request, response, admitted)
      .finally(() => this.#openRequests.end(openId));
  }

  /** Also says where to get a token, if an issuer is known. */
  #refuse(response: ServerResponse, what: Refusal): void {
    const { resource } = this.#options;
    const { method = '', headers } = response.req;
    const asked = { path: getRequestPath(response.req), method, host: headers.host ?? '' };
    sendRefusal(response, what, resource && computeProtection(resource, asked));
  }

  /**
   * Waits for open requests, then ends subscriptions and sessions. With `limits.drainDelayMs` there is a balancer, which
   * first has that time to notice. Then no connection is accepted, and those that exist are given up with their next
   * response, or by the balancer when they are idle: it sends elsewhere what it cannot connect for. Connections are kept
   * until then, since one that arrives at the moment at which a socket stops listening is reset by the kernel.
   */
  async close(): Promise<void> {
    this.#isLeaving = true;
    this.#waiting.close();
    const delayMs = this.#options.settings['limits.drainDelayMs'];
    await pause(delayMs);
    if (delayMs > 0) {
      await stopListening(this.#server());
      this.#givesUpConnections = true;
      await waitForDisconnection(this.#server(), delayMs);
    }
    const drained = this.#openRequests.drain(this.#options.settings['limits.drainMs']);
    for (const subscription of [...this.#subscriptions]) subscription.end();
    this.#options.rest.close();
    await drained;
    clearInterval(this.#sweepTimer);
    this.#unsubscribe();
    this.#sse.close();
    this.#sessions.dropAll();
  }

  #sweep(): void {
    this.#endOthers(Date.now());
    this.#sessions.sweep(performance.now());
  }

  /**
   * Ends connections and sessions of tokens that were revoked or expired: at once if revoked here, otherwise when
   * that becomes known.
   */
  #endOthers(nowMs: number): void {
    const { gate } = this.#options;
    const isHolder = (holder: Holder): boolean => gate.isHolder(holder, 'mcp', nowMs);
    this.#sessions.endOthers(isHolder);
    for (const open of [...this.#subscriptions]) if (!isHolder(open.holder)) open.end();
    this.#connections.endOthers((holder) => gate.isHolder(holder, undefined, nowMs));
  }

  #post(request: IncomingMessage, response: ServerResponse, { view, identity }: Admitted): Promise<void> {
    const { json, sse } = headers.parseAccept(request.headers.accept);
    if (!json && !sse) {
      sendRefusal(response, { code: 'NOT_ACCEPTABLE' });
      return Promise.resolve();
    }
    return receivePost(
      {
        request,
        response,
        relay: this.#options.relay,
        view,
        identity,
        settings: this.#options.settings,
        maxUnreadBytes: this.#options.limits?.unreadBytes ?? FIXED_LIMITS.unreadBytes,
        sessions: this.#sessions,
        loads: this.#loads,
        owners: this.#owners,
        subscriptions: this.#subscriptions,
        openRequests: this.#openRequests,
      },
      this.#options.bodies,
    );
  }

  readings(): Promise<Readings> {
    return this.#routes.readings();
  }
}

type Admitted = Pick<Post, 'view' | 'identity'>;

interface OwnPath {
  readonly path: string;
  readonly admitted: Result<Identity, Refusal>;
  /** What admitted it. */
  readonly guard: Guard;
}

/** The origin at which a server on this host and port is reached. */
function formatOrigin(host: string, port: number): string {
  const shown = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}

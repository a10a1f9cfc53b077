import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Readiness } from '../../core/readiness.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Log } from '../../gateway/ports/log.ts';
import { answerProbe } from './fixed-routes.ts';
import { findOriginFault } from './guard.ts';
import { guardHandler, sendJson, sendRefusal } from './http-answer.ts';
import { getRequestPath, readTarget } from './request-path.ts';
import { askAgainLater, isForSessionStream } from './waiting-streams.ts';

/** Maximum number of connections before there is a gateway behind the address. */
const MAX_EARLY_CONNECTIONS = 64;
const RETRY_SECONDS = 5;

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface ListenerOptions {
  readonly host: string;
  readonly limits?: Partial<FixedLimits> | undefined;
  readonly log: Log;
}

/** The HTTP server of an address. Until `answerWith`, it answers probes and refuses everything else. */
export interface HttpListener {
  readonly httpServer: Server;
  /** Resolves to the port, also if it listens already. ADDRESS_UNUSABLE */
  listen(port: number): Promise<Result<number, Refusal>>;
  /** Closes the connections so far. */
  answerWith(answer: Answer): void;
  close(): Promise<void>;
}

export function createListener({ host, limits, log }: ListenerOptions): HttpListener {
  // Importing node:http loads all of Node's bundled undici, for its re-exported classes.
  const { createServer } = process.getBuiltinModule('node:http');
  let answer: Answer = (request, response) => {
    answerEarly(request, response);
    return Promise.resolve();
  };
  const httpServer = createServer(
    { ...buildTimeLimits(limits), noDelay: true },
    guardHandler(log, (request, response) => answer(request, response)),
  );
  // Node drops headers beyond 2,000, so a second Host would go unseen. Their total size is limited anyway.
  httpServer.maxHeadersCount = 0;
  httpServer.maxConnections = MAX_EARLY_CONNECTIONS;
  return {
    httpServer,
    async listen(port) {
      const address = httpServer.address() as AddressInfo | null;
      return address === null ? listen(httpServer, host, port) : ok(address.port);
    },
    answerWith(next) {
      answer = next;
      httpServer.maxConnections = Infinity;
      httpServer.closeAllConnections();
    },
    close: () =>
      new Promise((resolve) => {
        httpServer.close(() => resolve());
        httpServer.closeAllConnections();
      }),
  };
}

const STARTING: Readiness = { status: 'unavailable', reasons: ['starting', 'store_unavailable'] };

/** While the store is awaited, there are no tokens yet, so nobody is told more than a code. */
function answerEarly(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('connection', 'close');
  // Any Host is answered: settings, such as the public URL, are not known yet, and nothing is revealed.
  const fault = findOriginFault(request, false);
  if (fault !== undefined) return sendRefusal(response, fault);
  const target = readTarget(request);
  if (!target.ok) return sendRefusal(response, { code: 'TARGET_INVALID', reason: target.error });
  const path = getRequestPath({ url: target.value });
  if (answerProbe(request, response, { path, readiness: () => STARTING })) return;
  if (path === '/health' && request.method === 'GET')
    return sendJson(response, 200, {
      headers: { 'cache-control': 'no-store' },
      pieces: [Buffer.from(JSON.stringify({ status: 'starting' }))],
    });
  request.url = target.value;
  if (isForSessionStream(request)) return askAgainLater(request, response);
  response.setHeader('retry-after', RETRY_SECONDS);
  sendRefusal(response, { code: 'STORE_UNAVAILABLE', reason: 'this gateway is starting, and waits for it' });
}

/** Bounds in ms for the interval at which Node checks for slow requests. Shorter time limits are checked more often. */
const CHECK_INTERVAL_MS = { min: 100, max: 5_000 };

/** Node does not start if `headersTimeout` exceeds `requestTimeout`. */
export function buildTimeLimits(
  limits?: Partial<Pick<FixedLimits, 'requestMs' | 'headersMs' | 'idleConnectionMs'>>,
): ServerOptions {
  const { requestMs: requestTimeout, headersMs, idleConnectionMs } = { ...FIXED_LIMITS, ...limits };
  const headersTimeout = Math.min(headersMs, requestTimeout);
  return {
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.max(
      CHECK_INTERVAL_MS.min,
      Math.min(CHECK_INTERVAL_MS.max, headersTimeout),
    ),
    keepAliveTimeout: idleConnectionMs,
  };
}

/** Resolves to the port on which the server listens. ADDRESS_UNUSABLE: it cannot listen. */
function listen(server: Server, host: string, port: number): Promise<Result<number, Refusal>> {
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

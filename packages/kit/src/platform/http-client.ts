import type { Readable } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { Pool, type Dispatcher } from 'undici';
import { getLiteralReach } from './addresses.ts';
import { CallPool, type Connection, type ConnectionUser } from './call-pool.ts';
import type { Reach } from '../reach.ts';
import { createCheckedLookup, ForbiddenAddress, type ResolveName } from './checked-lookup.ts';
import { getFaultName, guardCallback, type Peer } from './guarded.ts';
import type { Outbound, ProxyFault } from '../outbound.ts';
import { createOutboundConnector } from './outbound-connector.ts';
import { createSandboxProxyConnector, ProxyError } from './tunnel.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** Pieces, sent one after the other. */
  readonly body: readonly Buffer[] | undefined;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Why there is no connection or why it was lost. `error`: the code from Node, undici or OpenSSL. */
export type ConnectionFault =
  | { readonly code: 'CONNECTION_REFUSED' | 'CONNECTION_TIMEOUT' | 'CONNECTION_CLOSED' }
  /** Handling the response failed. `error`: the name of the error. */
  | { readonly code: 'READING_FAILED'; readonly error: string }
  | {
      readonly code:
        'CONNECTION_FAILED' | 'HOST_UNKNOWN' | 'NETWORK_UNREACHABLE' | 'CERTIFICATE_INVALID' | 'TLS_FAILED';
      readonly error: string;
    }
  | {
      readonly code: 'ADDRESS_NOT_ALLOWED';
      readonly reaches: readonly Reach[];
      readonly chosenBy: HttpReach['chosenBy'];
    }
  | ProxyFault;

/** The body of a response as it arrives. */
export interface ResponseBody {
  /** Pauses or resumes it. */
  hold(isHeld: boolean): void;
  /** For faults in handling it. */
  readonly peer: Peer;
}

/** Call order: start, data…, then end or error, once. After an abort, only error may follow. */
export interface ResponseHandler {
  start(status: number, headers: ResponseHeaders, body: ResponseBody): void;
  data(chunk: Buffer): void;
  end(): void;
  /** `isUnreached`: there was no connection, so nothing was sent. */
  error(fault: ConnectionFault, isUnreached: boolean): void;
}

const CONNECT_LIMIT_MS = 10_000;
const MAX_CONNECTIONS = 256;

/** Where a client's connections may lead. */
export interface HttpReach {
  readonly reaches: ReadonlySet<Reach>;
  /** Who chose the URL; part of the fault if its origin leads to other addresses. */
  readonly chosenBy: 'config' | 'operator' | 'public_source' | 'private_source';
  readonly resolve?: ResolveName | undefined;
  /** The way through proxies. Undefined: connect directly. */
  readonly outbound?: Outbound | undefined;
  /** URL of the HTTP proxy of a sandbox for all connections, which then looks up the host and checks its addresses. */
  readonly sandboxProxy?: string | undefined;
  /** Certificates for connections to the origin; not for those of a sandbox. */
  readonly secureContext?: SecureContext | undefined;
}

/**
 * Keep-alive connections to one origin. Redirects are not followed, so that credentials never leave the origin.
 * undici's own limits of 300 s for headers and body are off: the caller sets the time limit.
 */
export class HttpClient {
  readonly #calls: Destination;
  readonly #streams: Destination;

  /**
   * Without `reach`, connections may lead anywhere; used only for another Assay of the same user, possibly at its
   * socket.
   */
  constructor(origin: string, reach?: HttpReach, socketPath?: string) {
    const options = {
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      connect: toConnect(reach, socketPath),
    };
    const common = { origin, reach, forbidden: reach && literalFault(origin, reach) };
    this.#calls = { ...common, pool: new CallPool(origin, { ...options, connections: MAX_CONNECTIONS }) };
    this.#streams = { ...common, pool: new Pool(origin, options) };
  }

  /** Sends a request over the pool for calls. Returns a function that aborts it. */
  call(request: HttpRequest, handler: ResponseHandler): () => void {
    return dispatch(this.#calls, request, handler);
  }

  /** Sends a request whose response stays open for long, outside the pool for calls. */
  stream(request: HttpRequest, handler: ResponseHandler): () => void {
    return dispatch(this.#streams, request, handler);
  }

  async close(): Promise<void> {
    await Promise.all([this.#calls.pool.destroy(), this.#streams.pool.destroy()]);
  }
}

function toConnect(
  reach: HttpReach | undefined,
  socketPath: string | undefined,
): NonNullable<Pool.Options['connect']> {
  const limitMs = CONNECT_LIMIT_MS;
  if (reach?.sandboxProxy !== undefined) return createSandboxProxyConnector(reach.sandboxProxy, limitMs);
  if (reach?.outbound !== undefined) return createOutboundConnector({ ...reach, limitMs });
  return {
    timeout: limitMs,
    ...(reach && { lookup: createCheckedLookup(reach) }),
    ...(reach?.secureContext && { secureContext: reach.secureContext }),
    ...(socketPath !== undefined && { socketPath }),
  };
}

interface Destination {
  readonly origin: string;
  readonly pool: Pool | CallPool;
  readonly reach: HttpReach | undefined;
  /** Set if no connection may be made. */
  readonly forbidden: ConnectionFault | undefined;
}

/** Literal addresses bypass the lookup. */
function literalFault(origin: string, reach: HttpReach): ConnectionFault | undefined {
  const literal = getLiteralReach(new URL(origin).hostname);
  return literal === undefined || reach.reaches.has(literal) ? undefined : notAllowed([literal], reach);
}

function notAllowed(reaches: readonly Reach[], { chosenBy }: HttpReach): ConnectionFault {
  return { code: 'ADDRESS_NOT_ALLOWED', reaches, chosenBy };
}

function dispatch(
  { origin, pool, reach, forbidden }: Destination,
  request: HttpRequest,
  handler: ResponseHandler,
): () => void {
  if (forbidden !== undefined) {
    setImmediate(() => handler.error(forbidden, true));
    return () => undefined;
  }
  const { method, path, body } = request;
  const [only] = body ?? [];
  // Several pieces go in as an iterable, which undici would send chunked unless told the length.
  const isWhole = body === undefined || body.length < 2;
  const headers = isWhole
    ? request.headers
    : request.headers.concat('content-length', String(lengthOf(body)));
  const send = (): void => {
    pool.dispatch(
      {
        method,
        path,
        headers: headers as string[],
        body: isWhole ? (only ?? null) : (body as unknown as Readable),
      },
      exchange,
    );
  };
  const exchange = new Exchange(handler, { origin, reach, send });
  send();
  return () => exchange.abort();
}

/** Forwards undici's events for one request to its handler. */
class Exchange implements ConnectionUser, ResponseBody {
  readonly #handler: ResponseHandler;
  readonly #reach: HttpReach | undefined;
  readonly #send: () => void;
  /** Undefined for a stream. */
  connection: Connection | undefined;
  #isAnswered = false;
  #resends = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #isAborted = false;
  #isOver = false;
  readonly peer: Peer;
  readonly #guard: (event: () => void) => void;

  constructor(
    handler: ResponseHandler,
    {
      origin,
      reach,
      send,
    }: Pick<Destination, 'origin' | 'reach'> & {
      /** Sends the request once more. */
      readonly send: () => void;
    },
  ) {
    this.#handler = handler;
    this.#reach = reach;
    this.#send = send;
    this.peer = { name: `server at ${origin}`, end: (error) => this.#failed(error) };
    this.#guard = guardCallback(this.peer, (event: () => void) => event());
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort(new Error('aborted'));
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.#controller?.pause();
    else this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.connection?.begin();
    if (this.#isAborted) controller.abort(new Error('aborted'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#isAnswered = true;
    this.#guard(() => this.#handler.start(status, headers, this));
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver) this.#guard(() => this.#handler.data(chunk));
  }

  onResponseEnd(): void {
    this.connection?.rest();
    if (!this.#isOver) this.#over(() => this.#handler.end());
  }

  /**
   * Whether a reused connection was closed before the request was written to its end, so that the server cannot have
   * carried it out.
   */
  #isUnwritten({ syscall }: NodeJS.ErrnoException): boolean {
    const isOpen = !this.#isOver && !this.#isAborted && !this.#isAnswered;
    return isOpen && syscall === 'write' && this.connection?.isReused === true;
  }

  #over(event: () => void): void {
    this.#isOver = true;
    this.#guard(event);
  }

  #failed(error: unknown): void {
    const isOpen = !this.#isOver;
    // First, because an abort reports an error of its own.
    this.#isOver = true;
    this.abort();
    if (isOpen)
      this.#over(() => this.#handler.error({ code: 'READING_FAILED', error: getFaultName(error) }, false));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isUnwritten = this.#isUnwritten(error);
    if (!this.#isAborted) this.connection?.failed(this.#isAnswered);
    if (isUnwritten && this.#resends < MAX_RESENDS) {
      this.#resends += 1;
      this.#send();
      return;
    }
    const reach = this.#reach;
    const fault =
      reach !== undefined && error instanceof ForbiddenAddress
        ? notAllowed(error.reaches, reach)
        : faultOf(error);
    const { code = '' } = error as NodeJS.ErrnoException;
    const isUnreached = error instanceof ProxyError || UNREACHED.has(code);
    if (!this.#isOver) this.#over(() => this.#handler.error(fault, isUnreached));
  }
}

/** Maximum number of reused connections tried for one request, each closed by the server before it was written. */
const MAX_RESENDS = 3;

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((length, piece) => length + piece.length, 0);
}

const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'FORBIDDEN_ADDRESS',
]);

function faultOf(thrown: Error & { readonly code?: string }): ConnectionFault {
  if (thrown instanceof ProxyError) return thrown.fault;
  const error = thrown.code ?? thrown.message;
  switch (error) {
    case 'ECONNREFUSED':
      return { code: 'CONNECTION_REFUSED' };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { code: 'HOST_UNKNOWN', error };
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return { code: 'NETWORK_UNREACHABLE', error };
    case 'UND_ERR_CONNECT_TIMEOUT':
      return { code: 'CONNECTION_TIMEOUT' };
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return { code: 'CONNECTION_CLOSED' };
    default:
      return { code: tlsCode(thrown.code ?? ''), error };
  }
}

/** Classifies OpenSSL error names: certificate, or the rest of the handshake. */
function tlsCode(name: string): 'CERTIFICATE_INVALID' | 'TLS_FAILED' | 'CONNECTION_FAILED' {
  if (/CERT|^UNABLE_TO|^HOSTNAME_MISMATCH$/.test(name)) return 'CERTIFICATE_INVALID';
  return /^ERR_(?:SSL|TLS)_|^EPROTO$/.test(name) ? 'TLS_FAILED' : 'CONNECTION_FAILED';
}

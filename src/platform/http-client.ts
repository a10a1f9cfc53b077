import type { Readable } from 'node:stream';
import { isIP } from 'node:net';
import { Pool, type Dispatcher } from 'undici';
import { reachOf, type Reach } from './addresses.ts';
import { checkedLookup, ForbiddenAddress, type ResolveName } from './checked-lookup.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** In pieces, which are sent one after the other. */
  readonly body: readonly Buffer[] | undefined;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Called in this order: start, data…, then end or error, once. After an abort only error may follow. */
export interface ResponseHandler {
  /** `hold` stops the bytes that come, or lets them come again. */
  start(status: number, headers: ResponseHeaders, hold: (isHeld: boolean) => void): void;
  data(chunk: Buffer): void;
  end(): void;
  /** `isUnreached`: there was no connection, so nothing of the request was sent. */
  error(cause: string, isUnreached: boolean): void;
}

const CONNECT_LIMIT_MS = 10_000;
const MOST_CONNECTIONS = 256;

/** Where the connections of a client may lead. */
export interface HttpReach {
  readonly reaches: ReadonlySet<Reach>;
  /** A phrase: what to do where its origin leads to such addresses. */
  readonly remedy: (reaches: readonly Reach[]) => string;
  readonly resolve?: ResolveName | undefined;
}

/**
 * Keep-alive connections to one origin. No redirect is followed, so no credential leaves the origin. undici's own limits
 * of 300 s for headers and body are off: how long a call may take is the caller's to say.
 */
export class HttpClient {
  readonly #calls: Way;
  readonly #streams: Way;

  /** Without a reach it leads anywhere: that is for an Assay of the same user. */
  constructor(origin: string, reach?: HttpReach) {
    const options = {
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      connect: { timeout: CONNECT_LIMIT_MS, ...(reach && { lookup: checkedLookup(reach) }) },
    };
    const common = { reach, forbidden: reach && literalFault(origin, reach) };
    const pool = new Pool(origin, { ...options, connections: MOST_CONNECTIONS, keepAliveTimeout: 30_000 });
    this.#calls = { ...common, pool };
    this.#streams = { ...common, pool: new Pool(origin, options) };
  }

  /** Sends a request over the pool for calls. The returned function aborts it. */
  call(request: HttpRequest, handler: ResponseHandler): () => void {
    return dispatch(this.#calls, request, handler);
  }

  /** Sends a request whose answer stays open for long, outside the pool for calls. */
  stream(request: HttpRequest, handler: ResponseHandler): () => void {
    return dispatch(this.#streams, request, handler);
  }

  async close(): Promise<void> {
    await Promise.all([this.#calls.pool.destroy(), this.#streams.pool.destroy()]);
  }
}

interface Way {
  readonly pool: Pool;
  readonly reach: HttpReach | undefined;
  /** Why no connection is made, whatever listens there. */
  readonly forbidden: string | undefined;
}

/** A literal address is connected to without a look-up. */
function literalFault(origin: string, reach: HttpReach): string | undefined {
  const host = new URL(origin).hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) return undefined;
  const literal = reachOf(host);
  return reach.reaches.has(literal) ? undefined : forbiddenCause([literal], reach);
}

function forbiddenCause(reaches: readonly Reach[], { remedy }: HttpReach): string {
  return `it leads to a ${reaches.join(' and ')} address, so nothing was sent there: ${remedy(reaches)}`;
}

function dispatch(
  { pool, reach, forbidden }: Way,
  request: HttpRequest,
  handler: ResponseHandler,
): () => void {
  if (forbidden !== undefined) {
    setImmediate(() => handler.error(forbidden, true));
    return () => undefined;
  }
  let controller: Dispatcher.DispatchController | undefined;
  let isAborted = false;
  const { method, path, body } = request;
  const [only] = body ?? [];
  // Pieces are given as an iterable, for which undici must be told the length or it would send them chunked.
  const isWhole = body === undefined || body.length < 2;
  const headers = isWhole
    ? request.headers
    : request.headers.concat('content-length', String(lengthOf(body)));
  pool.dispatch(
    {
      method,
      path,
      headers: headers as string[],
      body: isWhole ? (only ?? null) : (body as unknown as Readable),
    },
    {
      onRequestStart(given) {
        controller = given;
        if (isAborted) given.abort(new Error('aborted'));
      },
      onResponseStart(given, status, headers) {
        handler.start(status, headers, (isHeld) => (isHeld ? given.pause() : given.resume()));
      },
      onResponseData(_, chunk) {
        handler.data(chunk);
      },
      onResponseEnd() {
        handler.end();
      },
      onResponseError(_, error) {
        handler.error(
          reach !== undefined && error instanceof ForbiddenAddress
            ? forbiddenCause(error.reaches, reach)
            : causeOf(error),
          UNREACHED.has((error as NodeJS.ErrnoException).code ?? ''),
        );
      },
    },
  );
  return () => {
    isAborted = true;
    controller?.abort(new Error('aborted'));
  };
}

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

/** A phrase that tells people what to look at. */
function causeOf(error: Error & { readonly code?: string }): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'nothing listens at its address (ECONNREFUSED)';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `its host name is not known (${error.code})`;
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'its host did not answer in time (connect time-out)';
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return 'it closed the connection';
    default:
      return error.code ?? error.message;
  }
}

import type { OutgoingHttpHeaders, ServerResponse, IncomingMessage } from 'node:http';
import { formatChallenge } from '../../core/challenge.ts';
import { getReportedCodes, toRpcError } from '../../core/errors.ts';
import { findMetadata, type ProtectedResource, type Protection } from '../../core/protected-resource.ts';
import type { Refusal } from '../../core/refusal.ts';
import { formatRefusal } from '../../core/sentences.ts';
import { escapeHtml, HTML_TYPE, PAGE_HEADERS, prefersHtml, renderWebPage } from '../../core/web-page.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Accepted } from '@assay-mcp/protocol/headers';
import { buildErrorMessage } from '@assay-mcp/protocol/reply';
import type { Outcome } from './handle-request.ts';
import { HttpStream, type MessageSink } from './http-stream.ts';
import { namesModern } from './modern-rules.ts';

/** Turns a response into a stream that its client can resume. */
export interface StreamSource {
  open(response: ServerResponse): MessageSink;
}

export interface HttpAnswerOptions {
  /** The formats that the client accepts. */
  readonly accepted: Accepted;
  /** Number of responses to wait for: one, or the number of requests in the batch. */
  readonly expected: number;
  readonly isBatch: boolean;
  /** The stream is closed when this many bytes are unread. */
  readonly maxUnreadBytes: number;
  /** If undefined, the stream lasts only as long as its connection. */
  readonly streams: StreamSource | undefined;
}

/** After this many ms of silence the answer becomes a stream, so that proxies do not time out. */
const QUIET_MS = 10_000;

/** Above this size in bytes, a response is written in pieces instead of being copied into one buffer. */
const COPY_LIMIT = 16 * 1024;

/**
 * The answer to one POST: plain JSON if it has only a result. It becomes an event stream to send messages before the
 * result, or after a silence.
 */
export class HttpAnswer {
  readonly #response: ServerResponse;
  readonly #options: HttpAnswerOptions;
  readonly #quiet: NodeJS.Timeout | undefined;
  #stream: MessageSink | undefined;
  readonly #collected: (readonly Buffer[])[] = [];
  #open: number;

  constructor(response: ServerResponse, options: HttpAnswerOptions) {
    this.#response = response;
    this.#options = options;
    this.#open = options.expected;
    if (options.accepted.sse) this.#quiet = setTimeout(() => this.openStream(), QUIET_MS);
  }

  /** Sends a message before the response. Returns false for a client that does not accept streams. */
  notify(bytes: Buffer): boolean {
    if (!this.#options.accepted.sse) return false;
    this.openStream();
    this.#stream?.send(bytes);
    return this.#stream !== undefined;
  }

  respond(outcome: Outcome, headers: OutgoingHttpHeaders = {}): void {
    this.#open -= 1;
    // Errors with their own status are sent with that status even to clients that accept only streams.
    if (!this.#options.accepted.json && outcome.status === 200) this.openStream();
    if (this.#stream !== undefined) this.#stream.respond(outcome.pieces);
    else this.#collected.push(outcome.pieces);
    if (this.#open === 0) this.#finish(outcome.status, headers);
  }

  /** The client cancelled a request, so it gets no response. */
  withdraw(): void {
    this.#open -= 1;
    if (this.#open === 0 && this.#collected.length === 0 && this.#options.accepted.sse) this.openStream();
    if (this.#open === 0) this.#finish(200, {});
  }

  /** Does nothing if a stream is already open or the client has left. */
  openStream(): void {
    const response = this.#response;
    if (this.#stream !== undefined || response.headersSent || response.destroyed) return;
    clearTimeout(this.#quiet);
    const { streams, maxUnreadBytes } = this.#options;
    this.#stream = streams?.open(response) ?? new HttpStream(response, { maxUnreadBytes });
    for (const pieces of this.#collected) this.#stream.respond(pieces);
    this.#collected.length = 0;
  }

  /** The client has left; do not open a stream for it. */
  abandon(): void {
    clearTimeout(this.#quiet);
  }

  #finish(status: number, headers: OutgoingHttpHeaders): void {
    this.abandon();
    const response = this.#response;
    if (this.#stream !== undefined) this.#stream.close();
    else if (this.#options.isBatch) sendJson(response, status, { headers, pieces: batch(this.#collected) });
    else sendJson(response, status, { headers, pieces: this.#collected[0] ?? [] });
  }
}

function batch(responses: readonly (readonly Buffer[])[]): readonly Buffer[] {
  const pieces = responses.flatMap((response, index) => [Buffer.from(index === 0 ? '[' : ','), ...response]);
  return [...pieces, Buffer.from(']')];
}

export interface Body {
  readonly headers: OutgoingHttpHeaders;
  readonly pieces: readonly Buffer[];
}

export function sendJson(response: ServerResponse, status: number, { headers, pieces }: Body): void {
  if (response.writableEnded || response.destroyed || response.headersSent) return;
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (length === 0) {
    response.writeHead(status === 200 ? 202 : status, headers).end();
    return;
  }
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': length });
  const [first] = pieces;
  if (length <= COPY_LIMIT) {
    // A latin1 string preserves the bytes and is sent in one write with the headers.
    const small = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
    response.end(small.toString('latin1'), 'latin1');
  } else {
    for (const piece of pieces) response.write(piece);
    response.end();
  }
}

/**
 * Refuses a request whose message was not parsed, so the response has no id. `protection` says where to get a token.
 */
export function sendRefusal(response: ServerResponse, what: Refusal, protection?: Protection): void {
  const extra: Record<string, string> = {};
  const { authorization } = response.req.headers;
  if (what.code === 'TOKEN_REQUIRED' || what.code === 'SCOPE_MISSING')
    extra['www-authenticate'] = formatChallenge(what, { authorization, protection });
  if ('waitSeconds' in what) extra['retry-after'] = String(what.waitSeconds);
  if (what.code === 'HTTP_METHOD_UNKNOWN') extra['allow'] = what.allowed;
  // The unread rest of the body would be parsed as the next request.
  extra['connection'] = 'close';
  const { http: status } = getReportedCodes(what);
  if (isBrowser(response.req)) sendPage(response, status, { headers: extra, text: formatRefusal(what) });
  else sendJson(response, status, { headers: extra, pieces: [bodyOf(what, response.req)] });
}

function isBrowser({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && prefersHtml(headers.accept);
}

/** A page for people who open the endpoint in a browser to see whether Assay runs. */
function sendPage(
  response: ServerResponse,
  status: number,
  { headers, text }: { readonly headers: Readonly<Record<string, string>>; readonly text: string },
): void {
  if (response.headersSent || response.destroyed) return;
  const page = renderWebPage('Assay: an MCP endpoint', {
    body: `<main>
<h1>This is an MCP endpoint</h1>
<p>Assay is running. This address answers MCP clients, not browsers: <a href="/">how to connect a client</a>.</p>
<p>What a client would be told: ${escapeHtml(text)}</p>
</main>`,
  });
  const fixed = { ...PAGE_HEADERS, 'content-type': HTML_TYPE, 'cache-control': 'no-store' };
  response.writeHead(status, { ...headers, ...fixed, 'content-length': Buffer.byteLength(page) }).end(page);
}

/** How long in ms to keep reading an oversized body, so that the client gets to read the refusal. */
const OVERHEAR_MS = 3_000;

/** Wraps a handler: if it fails, synchronously or later, the error is logged and the client gets INTERNAL. */
export function guardHandler(
  log: Log,
  answer: (...exchange: Exchange) => Promise<void>,
): (...exchange: Exchange) => void {
  return (request, response) => {
    const fail = (error: unknown): void => {
      const shown = error instanceof Error ? error.stack : String(error);
      log.error('a request failed inside Assay', { error: shown });
      sendRefusal(response, { code: 'INTERNAL' });
    };
    try {
      answer(request, response).catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

type Exchange = readonly [request: IncomingMessage, response: ServerResponse];

export function refuseMethod(response: ServerResponse, allowed: string): void {
  sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method: response.req.method ?? '', allowed });
}

/** Responds and lets the client finish sending. If the connection closes while it still sends, the response is lost. */
export function refuseLarge(request: IncomingMessage, response: ServerResponse, what: Refusal): void {
  const bytes = bodyOf(what, request);
  const extra: Record<string, number> = 'waitSeconds' in what ? { 'retry-after': what.waitSeconds } : {};
  response.writeHead(getReportedCodes(what).http, {
    ...extra,
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

/** The body has not been read yet; the header is enough to choose the error format. */
function bodyOf(what: Refusal, request: IncomingMessage): Buffer {
  const era = namesModern(request) ? 'modern' : 'legacy';
  return buildErrorMessage(undefined, toRpcError(what, era === 'legacy'), era);
}

/**
 * Serves the protected resource metadata, without a token (RFC 9728, section 3). Returns false, without a response, if
 * the path has none.
 */
export function answerMetadata(
  request: IncomingMessage,
  response: ServerResponse,
  { path, resource }: { readonly path: string; readonly resource: ProtectedResource },
): boolean {
  const { headers, method = '' } = request;
  const document = findMetadata(path, headers.host ?? '', resource);
  if (document === undefined) return false;
  if (method === 'GET' || method === 'HEAD')
    sendJson(response, 200, {
      // The document depends on the host name in the request, and its CORS headers on the origin.
      headers: { 'cache-control': 'no-cache', vary: 'Host, Origin' },
      pieces: [Buffer.from(JSON.stringify(document))],
    });
  else sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method, allowed: 'GET, HEAD' });
  return true;
}

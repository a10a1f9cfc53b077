import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Accepted } from '../../protocol/headers.ts';
import type { Outcome } from './handle-request.ts';
import { HttpStream, type MessageSink } from './http-stream.ts';

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

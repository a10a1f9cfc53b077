import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Outcome } from './handle-request.ts';
import { HttpStream, type MessageSink } from './http-stream.ts';

/** Makes of a response a stream to which its client can come back. */
export interface StreamSource {
  open(response: ServerResponse): MessageSink;
}

export interface HttpAnswerOptions {
  /** Whether the client accepts each form. */
  readonly json: boolean;
  readonly sse: boolean;
  /** Responses to come: one, or as many as a batch has requests. */
  readonly expected: number;
  readonly isBatch: boolean;
  /** A client that lets this many bytes pile up does not read; its stream is closed. */
  readonly mostUnreadBytes: number;
  /** Undefined: the stream lasts as long as its connection. */
  readonly streams: StreamSource | undefined;
}

/** Silence in ms after which an answer becomes a stream, so that nobody on the way gives up. */
const QUIET_MS = 10_000;

/** Above this size in bytes a response is written in pieces instead of being copied into one. */
const COPY_LIMIT = 16 * 1024;

/**
 * The answer to one POST. It is plain JSON when there is nothing to say but the result. It becomes an event stream when
 * something must be said before, and after a silence.
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
    if (options.sse) this.#quiet = setTimeout(() => this.openStream(), QUIET_MS);
  }

  /** Says something before the response; false for a client that accepts no streams, as it has no place for it. */
  notify(bytes: Buffer): boolean {
    if (!this.#options.sse) return false;
    this.openStream();
    this.#stream?.send(bytes);
    return this.#stream !== undefined;
  }

  respond(outcome: Outcome, headers: OutgoingHttpHeaders = {}): void {
    this.#open -= 1;
    // An error that has a status of its own is told by it also to who reads streams alone.
    if (!this.#options.json && outcome.status === 200) this.openStream();
    if (this.#stream !== undefined) this.#stream.respond(outcome.pieces);
    else this.#collected.push(outcome.pieces);
    if (this.#open === 0) this.#finish(outcome.status, headers);
  }

  /** A request will get no response, because its client cancelled it. */
  withdraw(): void {
    this.#open -= 1;
    if (this.#open === 0 && this.#collected.length === 0 && this.#options.sse) this.openStream();
    if (this.#open === 0) this.#finish(200, {});
  }

  /** Does nothing where there is a stream already, and for a client that is gone. */
  openStream(): void {
    const response = this.#response;
    if (this.#stream !== undefined || response.headersSent || response.destroyed) return;
    clearTimeout(this.#quiet);
    const { streams, mostUnreadBytes } = this.#options;
    this.#stream = streams?.open(response) ?? new HttpStream(response, { mostUnreadBytes });
    for (const pieces of this.#collected) this.#stream.respond(pieces);
    this.#collected.length = 0;
  }

  /** The client is gone; no stream is opened for it any more. */
  abandon(): void {
    clearTimeout(this.#quiet);
  }

  #finish(status: number, headers: OutgoingHttpHeaders): void {
    this.abandon();
    const response = this.#response;
    if (this.#stream !== undefined) this.#stream.close();
    else if (this.#options.isBatch) sendJson(response, status, { headers, pieces: batch(this.#collected) });
    else sendJson(response, status, { headers, pieces: this.#collected.flat() });
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
    // As a string, whose characters stand for the bytes, a small body goes out in one write with the headers.
    const small = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
    response.end(small.toString('latin1'), 'latin1');
  } else {
    for (const piece of pieces) response.write(piece);
    response.end();
  }
}

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { EVENT_HEAD, EVENT_TAIL, KEEP_ALIVE } from '../../protocol/sse.ts';
import { onOneLine } from '../../protocol/splice.ts';
import type { Outcome } from './conduct.ts';

export interface HttpAnswerOptions {
  /** Whether the client accepts each form. */
  readonly json: boolean;
  readonly sse: boolean;
  /** Responses to come: one, or as many as a batch has requests. */
  readonly expected: number;
  readonly isBatch: boolean;
  /** A client that lets this many bytes pile up does not read; its stream is closed. */
  readonly mostUnreadBytes: number;
}

/** Silence in ms after which an answer becomes a stream, so that nobody on the way gives up. */
const QUIET_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;

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
  #keepAlive: NodeJS.Timeout | undefined;
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
    const response = this.#response;
    if (!this.#options.sse || response.writableEnded || response.destroyed) return false;
    this.openStream();
    this.#event([bytes]);
    if (response.writableLength > this.#options.mostUnreadBytes) response.destroy();
    return true;
  }

  respond(outcome: Outcome, headers: OutgoingHttpHeaders = {}): void {
    this.#open -= 1;
    // An error that has a status of its own is told by it also to who reads streams alone.
    if (!this.#options.json && outcome.status === 200) this.openStream();
    if (this.#keepAlive !== undefined) this.#event(outcome.pieces);
    else this.#collected.push(outcome.pieces);
    if (this.#open === 0) this.#finish(outcome.status, headers);
  }

  /** A request will get no response, because its client cancelled it. */
  withdraw(): void {
    this.#open -= 1;
    if (
      this.#open === 0 &&
      this.#keepAlive === undefined &&
      this.#collected.length === 0 &&
      this.#options.sse
    )
      this.openStream();
    if (this.#open === 0) this.#finish(200, {});
  }

  openStream(): void {
    if (this.#keepAlive !== undefined || this.#response.headersSent) return;
    clearTimeout(this.#quiet);
    writeStreamHead(this.#response);
    this.#keepAlive = setInterval(() => this.#response.write(KEEP_ALIVE), KEEP_ALIVE_MS);
    for (const pieces of this.#collected) this.#event(pieces);
    this.#collected.length = 0;
  }

  /** The client is gone; nothing more is written. */
  abandon(): void {
    clearTimeout(this.#quiet);
    clearInterval(this.#keepAlive);
  }

  #event(pieces: readonly Buffer[]): void {
    const response = this.#response;
    response.write(EVENT_HEAD);
    for (const piece of pieces) response.write(onOneLine(piece));
    response.write(EVENT_TAIL);
  }

  #finish(status: number, headers: OutgoingHttpHeaders): void {
    this.abandon();
    const response = this.#response;
    if (this.#keepAlive !== undefined) response.end();
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

/** Heads a stream of events (2026-07-28, basic/transports/streamable-http#receiving-messages). */
export function writeStreamHead(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
}

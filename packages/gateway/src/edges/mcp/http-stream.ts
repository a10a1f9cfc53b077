import type { ServerResponse } from 'node:http';
import { EVENT_HEAD, EVENT_TAIL, KEEP_ALIVE } from '@assay-mcp/protocol/sse';
import { toOneLine } from '@assay-mcp/protocol/splice';

const KEEP_ALIVE_MS = 15_000;

/** Sends the messages of one stream in order. */
export interface MessageSink {
  /** Sends a message that is not a response. */
  send(bytes: Buffer): void;
  /** Sends a response, which may be large, in pieces. */
  respond(pieces: readonly Buffer[]): void;
  /** Ends the stream. */
  close(): void;
}

export interface HttpStreamOptions {
  /** The stream is closed when this many bytes are unread. */
  readonly maxUnreadBytes: number;
  /** Called once, whichever side closes. `isTaken`: we ended the stream, and all of it was handed over. */
  readonly onClose?: ((isTaken: boolean) => void) | undefined;
}

/** An event stream on one connection: the answer to a POST, the GET of a legacy session, or a modern subscription. */
export class HttpStream implements MessageSink {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;
  readonly #maxUnreadBytes: number;

  constructor(response: ServerResponse, { maxUnreadBytes, onClose }: HttpStreamOptions) {
    this.#response = response;
    this.#maxUnreadBytes = maxUnreadBytes;
    if (!response.headersSent) writeStreamHead(response);
    this.#keepAlive = setInterval(() => response.write(KEEP_ALIVE), KEEP_ALIVE_MS);
    response.once('close', () => {
      clearInterval(this.#keepAlive);
      onClose?.(response.writableFinished);
    });
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  readonly send = (bytes: Buffer): void => {
    this.write([EVENT_HEAD, toOneLine(bytes), EVENT_TAIL]);
    this.dropUnread();
  };

  respond(pieces: readonly Buffer[]): void {
    this.write([EVENT_HEAD, ...pieces.map(toOneLine), EVENT_TAIL]);
  }

  /** Writes framed events. */
  write(pieces: readonly Buffer[]): void {
    if (!this.isOpen) return;
    for (const piece of pieces) this.#response.write(piece);
  }

  /** Some proxies pass the headers on only with the first byte of the body. */
  comment(): void {
    this.write([KEEP_ALIVE]);
  }

  /** Disconnects a client that does not read. */
  dropUnread(): void {
    if (this.#response.writableLength > this.#maxUnreadBytes) this.#response.destroy();
  }

  readonly close = (): void => {
    clearInterval(this.#keepAlive);
    this.#response.end();
  };
}

/** Writes the headers of an event stream (2026-07-28, basic/transports/streamable-http#receiving-messages). */
export function writeStreamHead(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
}

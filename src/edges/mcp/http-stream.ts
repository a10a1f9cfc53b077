import type { ServerResponse } from 'node:http';
import { EVENT_HEAD, EVENT_TAIL, KEEP_ALIVE } from '../../protocol/sse.ts';
import { onOneLine } from '../../protocol/splice.ts';

const KEEP_ALIVE_MS = 15_000;

/** Takes the messages of one stream, in their order. */
export interface MessageSink {
  /** Says what is no response. */
  send(bytes: Buffer): void;
  /** Says a response, which may be large, in pieces. */
  respond(pieces: readonly Buffer[]): void;
  /** Nothing more will be said. */
  close(): void;
}

export interface HttpStreamOptions {
  /** A client that lets this many bytes pile up does not read; its stream is closed. */
  readonly mostUnreadBytes: number;
  /** Called once, whoever closes it. `isTaken`: it was ended by us, and all was handed over. */
  readonly onClose?: ((isTaken: boolean) => void) | undefined;
}

/** An event stream on one connection: the answer to a POST, the GET of a legacy session, or a modern subscription. */
export class HttpStream implements MessageSink {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;
  readonly #mostUnreadBytes: number;

  constructor(response: ServerResponse, { mostUnreadBytes, onClose }: HttpStreamOptions) {
    this.#response = response;
    this.#mostUnreadBytes = mostUnreadBytes;
    writeStreamHead(response);
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
    this.write([EVENT_HEAD, onOneLine(bytes), EVENT_TAIL]);
    this.dropUnread();
  };

  respond(pieces: readonly Buffer[]): void {
    this.write([EVENT_HEAD, ...pieces.map(onOneLine), EVENT_TAIL]);
  }

  /** Writes what is framed already. */
  write(pieces: readonly Buffer[]): void {
    if (!this.isOpen) return;
    for (const piece of pieces) this.#response.write(piece);
  }

  /** Cuts the connection of a client that does not read. */
  dropUnread(): void {
    if (this.#response.writableLength > this.#mostUnreadBytes) this.#response.destroy();
  }

  readonly close = (): void => {
    clearInterval(this.#keepAlive);
    this.#response.end();
  };
}

/** Heads a stream of events (2026-07-28, basic/transports/streamable-http#receiving-messages). */
function writeStreamHead(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
}

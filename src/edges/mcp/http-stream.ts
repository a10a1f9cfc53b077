import type { ServerResponse } from 'node:http';
import { EVENT_HEAD, EVENT_TAIL, KEEP_ALIVE } from '../../protocol/sse.ts';
import { onOneLine } from '../../protocol/splice.ts';
import { writeStreamHead } from './http-answer.ts';

const KEEP_ALIVE_MS = 15_000;

export interface HttpStreamOptions {
  /** A client that lets this many bytes pile up does not read; its stream is closed. */
  readonly mostUnreadBytes: number;
  /** Called once, whoever closes it. */
  readonly onClose: () => void;
}

/** An event stream that stays open: the GET of a legacy session, or a modern subscription. */
export class HttpStream {
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
      onClose();
    });
  }

  readonly send = (bytes: Buffer): void => {
    const response = this.#response;
    if (response.writableEnded || response.destroyed) return;
    response.write(Buffer.concat([EVENT_HEAD, onOneLine(bytes), EVENT_TAIL]));
    if (response.writableLength > this.#mostUnreadBytes) response.destroy();
  };

  readonly close = (): void => {
    clearInterval(this.#keepAlive);
    this.#response.end();
  };
}

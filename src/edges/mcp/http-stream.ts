import type { ServerResponse } from 'node:http';
import { EVENT_HEAD, EVENT_TAIL, KEEP_ALIVE } from '../../protocol/sse.ts';
import { MOST_UNREAD_BYTES, writeStreamHead } from './http-answer.ts';

const KEEP_ALIVE_MS = 15_000;

/** An event stream that stays open: the GET of a legacy session, or a modern subscription. */
export class HttpStream {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;

  /** `onClose` is called once, whoever closes it. */
  constructor(response: ServerResponse, onClose: () => void) {
    this.#response = response;
    writeStreamHead(response);
    this.#keepAlive = setInterval(() => response.write(KEEP_ALIVE), KEEP_ALIVE_MS);
    response.once('close', () => {
      clearInterval(this.#keepAlive);
      onClose();
    });
  }

  readonly send = (bytes: Buffer): void => {
    const response = this.#response;
    if (response.writableEnded) return;
    response.write(Buffer.concat([EVENT_HEAD, bytes, EVENT_TAIL]));
    if (response.writableLength > MOST_UNREAD_BYTES) response.destroy();
  };

  readonly close = (): void => {
    clearInterval(this.#keepAlive);
    this.#response.end();
  };
}

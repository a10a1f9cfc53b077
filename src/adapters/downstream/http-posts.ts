import type { Log } from '../../gateway/ports.ts';
import type { HttpRequest } from '../../platform/http-client.ts';
import { Asides } from './asides.ts';
import type { HttpEnd, HttpExchangeOptions } from './http-exchange.ts';

export interface HttpPostsOptions {
  readonly server: string;
  readonly log: Log;
  /** Begins an exchange as all of the link. */
  readonly exchange: (
    options: Pick<HttpExchangeOptions, 'request' | 'isStream' | 'onMessage' | 'onEnd'>,
  ) => () => void;
  /** A request as the link is now: with its session and its revision. */
  readonly request: (method: 'POST' | 'DELETE', body: Buffer | undefined) => HttpRequest;
}

/** Most messages beside requests that are on their way at a time. */
const MOST_POSTS = 1_024;

/** What is sent beside requests: notifications, responses, and the end of a session. Nothing depends on the answers. */
export class HttpPosts {
  readonly #options: HttpPostsOptions;
  readonly #asides: Asides;
  #posts = 0;

  constructor(options: HttpPostsOptions) {
    this.#options = options;
    this.#asides = new Asides({ ...options, isTaken: () => this.#posts < MOST_POSTS });
  }

  readonly post = (body: Buffer): void => {
    const { server, log } = this.#options;
    if (!this.#asides.mayGo()) return;
    this.#posts += 1;
    this.#send('POST', body, (end) => {
      this.#posts -= 1;
      if (end.kind !== 'answered') log.debug('a notification did not arrive', { server, cause: end.cause });
    });
  };

  delete(): Promise<HttpEnd> {
    return new Promise((resolve) => this.#send('DELETE', undefined, resolve));
  }

  #send(method: 'POST' | 'DELETE', body: Buffer | undefined, onEnd: (end: HttpEnd) => void): void {
    const { exchange, request } = this.#options;
    exchange({ request: request(method, body), isStream: false, onMessage: () => undefined, onEnd });
  }
}

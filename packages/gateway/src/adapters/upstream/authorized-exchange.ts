import type { Refusal } from '../../core/refusal.ts';
import type { Authorizer, Challenge } from '../../gateway/ports/credentials.ts';
import type { HttpRequest, ResponseHeaders } from '@assay-mcp/kit/platform/http-client';
import { parseBearerChallenge } from '@assay-mcp/protocol/challenge';
import type { Message, NoMessage } from '@assay-mcp/protocol/message';
import { exchangeHttp, type HttpEnd, type HttpExchangeOptions } from './http-exchange.ts';

/** Maximum number of times one request is resent with other credentials. */
const MAX_RETRIES = 2;

/**
 * One HTTP request, sent with the subject's credentials. If they are refused, it is resent with better ones; if there
 * are none, `onEnd` carries the refusal. Returns a function that aborts the request.
 */
export function exchangeAuthorized(
  options: HttpExchangeOptions,
  authorizer: Authorizer | undefined,
): () => void {
  return authorizer === undefined ? exchangeHttp(options) : new AuthorizedExchange(options, authorizer).abort;
}

/** The options of each try: those given, except that challenges are handled here. */
class AuthorizedExchange implements HttpExchangeOptions {
  readonly client: HttpExchangeOptions['client'];
  readonly isStream: boolean;
  readonly endsWithResponse: boolean;
  readonly streamPosition: HttpExchangeOptions['streamPosition'];
  readonly server: string;
  readonly log: HttpExchangeOptions['log'];
  readonly #options: HttpExchangeOptions;
  readonly #authorizer: Authorizer;
  request: HttpRequest;
  /** The header of the last try. */
  #sent: string | undefined;
  #challenge: Challenge | undefined;
  #retries = 0;
  #isAborted = false;
  #abort: () => void = () => undefined;

  constructor(options: HttpExchangeOptions, authorizer: Authorizer) {
    this.#options = options;
    this.#authorizer = authorizer;
    this.client = options.client;
    this.request = options.request;
    this.isStream = options.isStream;
    this.endsWithResponse = options.endsWithResponse;
    this.streamPosition = options.streamPosition;
    this.server = options.server;
    this.log = options.log;
    this.#send();
  }

  readonly abort = (): void => {
    this.#isAborted = true;
    this.#abort();
  };

  get onEvent(): HttpExchangeOptions['onEvent'] {
    return this.#options.onEvent;
  }

  /** The body of a challenge is not the answer to the request, even if it looks like one. */
  onMessage(message: Message | NoMessage): void {
    if (this.#challenge === undefined) this.#options.onMessage(message);
  }

  onStart(status: number, headers: ResponseHeaders): void {
    this.#challenge = challengeOf(status, headers, this.#sent !== undefined);
    if (this.#challenge === undefined) this.#options.onStart?.(status, headers);
  }

  onEnd(end: HttpEnd): void {
    if (this.#challenge === undefined || end.kind !== 'answered') this.#options.onEnd(end);
    else
      void this.#decide(this.#challenge).then((refusal) => {
        if (refusal === undefined) this.#send();
        else this.#options.onEnd({ ...end, refusal });
      });
  }

  #send(): void {
    const { request } = this.#options;
    const sent = this.#authorizer.header();
    this.#sent = sent;
    this.#challenge = undefined;
    if (sent !== undefined)
      this.request = { ...request, headers: [...request.headers, 'authorization', sent] };
    else this.request = request;
    this.#abort = exchangeHttp(this);
  }

  /** Returns undefined if the request should be resent. */
  async #decide(challenge: Challenge): Promise<Refusal | undefined> {
    const { subject } = this.#authorizer;
    if (this.#retries === MAX_RETRIES) {
      return {
        code: 'AUTHORIZATION_NEEDED',
        server: this.server,
        subject,
        cause: { code: 'TOKEN_REFUSED' },
      };
    }
    this.#retries += 1;
    const decided = await this.#authorizer.refused(challenge, this.#sent);
    if (this.#isAborted) return { code: 'CANCELLED' };
    return decided.ok ? undefined : decided.error;
  }
}

/** Undefined if the answer is not about tokens, such as a 401 to a request without one that asks for none. */
function challengeOf(status: number, headers: ResponseHeaders, isSent: boolean): Challenge | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const given = headers['www-authenticate'];
  const bearer = parseBearerChallenge(Array.isArray(given) ? given.join(', ') : given);
  const { scope, resourceMetadata } = bearer ?? {};
  const isTooLittle = bearer?.error === 'insufficient_scope';
  if (status === 403)
    return isTooLittle ? { kind: isSent ? 'too_little' : 'invalid', scope, resourceMetadata } : undefined;
  return bearer !== undefined || isSent ? { kind: 'invalid', scope, resourceMetadata } : undefined;
}

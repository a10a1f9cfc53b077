import type { Refusal } from '../../core/refusal.ts';
import type { Authorizer, Challenge } from '../../gateway/ports/credentials.ts';
import type { ResponseHeaders } from '../../platform/http-client.ts';
import { bearerChallenge } from '../../protocol/challenge.ts';
import { exchangeHttp, type HttpExchangeOptions } from './http-exchange.ts';

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
  return authorizer === undefined ? exchangeHttp(options) : new Exchange(options, authorizer).abort;
}

class Exchange {
  readonly #options: HttpExchangeOptions;
  readonly #authorizer: Authorizer;
  #retries = 0;
  #isAborted = false;
  #abort: () => void = () => undefined;

  constructor(options: HttpExchangeOptions, authorizer: Authorizer) {
    this.#options = options;
    this.#authorizer = authorizer;
    this.#send();
  }

  readonly abort = (): void => {
    this.#isAborted = true;
    this.#abort();
  };

  #send(): void {
    const options = this.#options;
    const { request } = options;
    const sent = this.#authorizer.header();
    let challenge: Challenge | undefined;
    this.#abort = exchangeHttp({
      ...options,
      request:
        sent === undefined ? request : { ...request, headers: [...request.headers, 'authorization', sent] },
      // The body of a challenge is not the answer to the request, even if it looks like one.
      onMessage: (message) => {
        if (challenge === undefined) options.onMessage(message);
      },
      onStart: (status, headers) => {
        challenge = challengeOf(status, headers, sent !== undefined);
        if (challenge === undefined) options.onStart?.(status, headers);
      },
      onEnd: (end) => {
        if (challenge === undefined || end.kind !== 'answered') options.onEnd(end);
        else
          void this.#decide(challenge, sent).then((refusal) => {
            if (refusal === undefined) this.#send();
            else options.onEnd({ ...end, refusal });
          });
      },
    });
  }

  /** Returns undefined if the request should be resent. */
  async #decide(challenge: Challenge, sent: string | undefined): Promise<Refusal | undefined> {
    const { server } = this.#options;
    const { subject } = this.#authorizer;
    if (this.#retries === MAX_RETRIES) {
      return { code: 'AUTHORIZATION_NEEDED', server, subject, cause: { code: 'TOKEN_REFUSED' } };
    }
    this.#retries += 1;
    const decided = await this.#authorizer.refused(challenge, sent);
    if (this.#isAborted) return { code: 'CANCELLED' };
    return decided.ok ? undefined : decided.error;
  }
}

/** Undefined if the answer is not about tokens, such as a 401 to a request without one that asks for none. */
function challengeOf(status: number, headers: ResponseHeaders, isSent: boolean): Challenge | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const given = headers['www-authenticate'];
  const bearer = bearerChallenge(Array.isArray(given) ? given.join(', ') : given);
  if (status === 401) return bearer !== undefined || isSent ? { kind: 'invalid' } : undefined;
  return isSent && bearer?.error === 'insufficient_scope'
    ? { kind: 'too little', scope: bearer.scope }
    : undefined;
}

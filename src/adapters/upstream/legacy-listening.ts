import type { Log } from '../../gateway/ports/link.ts';
import type { Authorizer } from '../../gateway/ports/credentials.ts';
import type { HttpClient, HttpRequest } from '../../platform/http-client.ts';
import { atMost, pause } from '../../platform/turns.ts';
import { LAST_EVENT_ID } from '../../protocol/headers.ts';
import type { Message, NoMessage } from '../../protocol/message.ts';
import { exchangeAuthorized } from './authorized-exchange.ts';
import { isSuccess, type HttpEnd, type HttpExchangeOptions } from './http-exchange.ts';
import { StreamPosition } from './stream-position.ts';

export interface LegacyListening {
  readonly client: HttpClient;
  /** Undefined: the headers say all. */
  readonly authorizer: Authorizer | undefined;
  /** The GET that opens the stream. */
  readonly request: HttpRequest;
  readonly server: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onMessage: (message: Message | NoMessage) => void;
  /** The stream is there again. What was said meanwhile may be lost. */
  readonly onReturn: () => void;
  /** The stream has ended, or was refused. */
  readonly onEnd: (end: HttpEnd) => void;
}

/** A stream that stood this long, in ms, has not failed. */
const STABLE_MS = 5_000;
/** Time in ms that a server has to begin its stream: some do it only when they have something to say. */
const BEGIN_LIMIT_MS = 1_000;

/**
 * Keeps open the stream on which a legacy server speaks unasked, until the signal is aborted or the server offers none
 * (2025-11-25, basic/transports#listening-for-messages-from-the-server). It goes on where it was, if events have ids.
 * Resolves when the server has begun it, or will not, or had its time to.
 */
export function listenLegacy(listening: LegacyListening): Promise<unknown> {
  const begun = Promise.withResolvers<undefined>();
  void keepListening(listening, () => {
    begun.resolve(undefined);
  });
  return atMost(begun.promise, BEGIN_LIMIT_MS);
}

async function keepListening(listening: LegacyListening, onBegun: () => void): Promise<void> {
  const { signal, onMessage, onReturn, onEnd, authorizer, request, ...exchange } = listening;
  const trail = new StreamPosition();
  let hasMissed = false;
  let abort = (): void => undefined;
  signal.addEventListener('abort', () => abort(), { once: true });
  while (!signal.aborted) {
    const { lastId } = trail;
    const startedMs = Date.now();
    trail.begin();
    const end = await new Promise<HttpEnd>((resolve) => {
      const options: HttpExchangeOptions = {
        ...exchange,
        request: lastId === undefined ? request : resumption(request, lastId),
        isStream: true,
        endsWithResponse: false,
        trail,
        onStart: (status) => {
          onBegun();
          if (hasMissed && isSuccess(status)) onReturn();
        },
        onMessage,
        onEnd: resolve,
      };
      abort = exchangeAuthorized(options, authorizer);
    });
    onBegun();
    onEnd(end);
    const isRefused = end.kind === 'answered' && offersNone(end.status);
    if (isRefused && lastId === undefined) return;
    // A server that does not know the event any more may begin a stream anew.
    if (isRefused) trail.forget();
    hasMissed = true;
    if (Date.now() - startedMs > STABLE_MS) trail.advance();
    await pause(trail.waitMs, signal);
  }
}

/** 405 says so; a server in trouble, or one that wants to be asked less often, says it with another number. */
function offersNone(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}

/** The same request, for what comes after an event. */
export function resumption(request: HttpRequest, lastId: string): HttpRequest {
  return { ...request, headers: [...request.headers, LAST_EVENT_ID, lastId] };
}

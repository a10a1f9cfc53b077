import type { Log } from '../../gateway/ports/log.ts';
import type { Authorizer } from '../../gateway/ports/credentials.ts';
import type { HttpClient, HttpRequest } from '@assay-mcp/kit/platform/http-client';
import { waitAtMost, pause } from '@assay-mcp/kit/platform/pause';
import { LAST_EVENT_ID } from '@assay-mcp/protocol/headers';
import type { Message, NoMessage } from '@assay-mcp/protocol/message';
import { exchangeAuthorized } from './authorized-exchange.ts';
import { isSuccess, type HttpEnd, type HttpExchangeOptions } from './http-exchange.ts';
import { StreamPosition } from './stream-position.ts';

export interface LegacyListening {
  readonly client: HttpClient;
  /** Undefined if the headers suffice. */
  readonly authorizer: Authorizer | undefined;
  /** The GET that opens the stream. */
  readonly request: HttpRequest;
  readonly server: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** See `HttpExchangeOptions`. */
  readonly minSilenceMs: number;
  readonly onMessage: (message: Message | NoMessage) => void;
  /** Called when the stream is back, but could not be resumed where it was: messages sent in the meantime may be lost. */
  readonly onReturn: () => void;
  /** Called when the stream has ended or was refused. */
  readonly onEnd: (end: HttpEnd) => void;
}

/** A stream that stayed open this long, in ms, has not failed. */
const STABLE_MS = 5_000;
/** Time in ms a server has to open its stream; some wait until they have something to send. */
const BEGIN_LIMIT_MS = 1_000;

/**
 * Keeps open the stream for a legacy server's own messages until the signal aborts or the server offers none
 * (2025-11-25, basic/transports#listening-for-messages-from-the-server). Resumes where it left off if events have ids.
 * Resolves when the server has opened it, refused it, or used up its time.
 */
export function listenLegacy(listening: LegacyListening): Promise<unknown> {
  const begun = Promise.withResolvers<undefined>();
  void keepListening(listening, () => {
    begun.resolve(undefined);
  });
  return waitAtMost(begun.promise, BEGIN_LIMIT_MS);
}

async function keepListening(listening: LegacyListening, onBegun: () => void): Promise<void> {
  const { signal, onMessage, onReturn, onEnd, authorizer, request, ...exchange } = listening;
  const streamPosition = new StreamPosition();
  let hasMissed = false;
  let abort = (): void => undefined;
  signal.addEventListener('abort', () => abort(), { once: true });
  while (!signal.aborted) {
    const { lastId } = streamPosition;
    const startedMs = Date.now();
    streamPosition.begin();
    const end = await new Promise<HttpEnd>((resolve) => {
      const options: HttpExchangeOptions = {
        ...exchange,
        request: lastId === undefined ? request : buildResumption(request, lastId),
        isStream: true,
        endsWithResponse: false,
        streamPosition,
        onStart: (status) => {
          onBegun();
          if (hasMissed && lastId === undefined && isSuccess(status)) onReturn();
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
    // A server that has forgotten the event may still start a new stream.
    if (isRefused) streamPosition.forget();
    hasMissed = true;
    if (Date.now() - startedMs > STABLE_MS) streamPosition.advance();
    await pause(streamPosition.waitMs, signal);
  }
}

/** 405 means unsupported. 5xx, 408 and 429 are temporary. */
function offersNone(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}

/** The same request, resuming after the given event. */
export function buildResumption(request: HttpRequest, lastId: string): HttpRequest {
  return { ...request, headers: [...request.headers, LAST_EVENT_ID, lastId] };
}

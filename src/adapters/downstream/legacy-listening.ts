import type { Log } from '../../gateway/ports.ts';
import type { Authorizer } from '../../gateway/ports/credentials.ts';
import type { HttpClient, HttpRequest } from '../../platform/http-client.ts';
import { pause } from '../../platform/waiting.ts';
import type { Message, NoMessage } from '../../protocol/message.ts';
import { exchangeAuthorized } from './authorized-exchange.ts';
import { isSuccess, type HttpEnd, type HttpExchangeOptions } from './http-exchange.ts';

export interface LegacyListening {
  readonly client: HttpClient;
  readonly authorizer: Authorizer | undefined;
  /** The GET that opens the stream. */
  readonly request: HttpRequest;
  readonly server: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onMessage: (message: Message | NoMessage) => void;
  /** The stream stands again after it had ended. */
  readonly onReturn: () => void;
  /** The stream has ended, or was refused. */
  readonly onEnd: (end: HttpEnd) => void;
}

/** Wait in ms before a stream that ended is opened again; it doubles up to the longest, and starts anew with each message. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A stream that stood this long, in ms, has not failed. */
const STABLE_MS = 5_000;

/**
 * Keeps open the stream on which a legacy server speaks unasked, until the signal is aborted or the server offers none
 * (2025-11-25, basic/transports#listening-for-messages-from-the-server).
 */
export async function listenLegacy(listening: LegacyListening): Promise<void> {
  const { signal, onMessage, onReturn, onEnd, authorizer, ...exchange } = listening;
  let hasMissed = false;
  let waitMs = FIRST_WAIT_MS;
  let abort = (): void => undefined;
  signal.addEventListener('abort', () => abort(), { once: true });
  while (!signal.aborted) {
    const startedMs = Date.now();
    const end = await new Promise<HttpEnd>((resolve) => {
      const options: HttpExchangeOptions = {
        ...exchange,
        isStream: true,
        endsWithResponse: false,
        onStart: (status) => {
          if (hasMissed && isSuccess(status)) onReturn();
        },
        onMessage: (message) => {
          waitMs = FIRST_WAIT_MS;
          onMessage(message);
        },
        onEnd: resolve,
      };
      abort = exchangeAuthorized(options, authorizer);
    });
    onEnd(end);
    if (end.kind === 'answered' && offersNone(end.status)) return;
    hasMissed = true;
    if (Date.now() - startedMs > STABLE_MS) waitMs = FIRST_WAIT_MS;
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

/** 405 says so; a server in trouble, or one that wants to be asked less often, says it with another number. */
function offersNone(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}

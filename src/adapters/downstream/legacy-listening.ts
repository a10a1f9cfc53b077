import type { Log } from '../../gateway/ports.ts';
import type { HttpClient, HttpRequest } from '../../platform/http-client.ts';
import { pause } from '../../platform/waiting.ts';
import { LAST_EVENT_ID } from '../../protocol/headers.ts';
import type { Message, NoMessage } from '../../protocol/message.ts';
import { exchangeHttp, isSuccess, type HttpEnd } from './http-exchange.ts';
import { Trail } from './trail.ts';

export interface LegacyListening {
  readonly client: HttpClient;
  /** The GET that opens the stream. */
  readonly request: HttpRequest;
  readonly server: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onMessage: (message: Message | NoMessage) => void;
  /** The stream has ended, or was refused. */
  readonly onEnd: (end: HttpEnd) => void;
}

/**
 * Keeps open the stream on which a legacy server speaks unasked, until the signal is aborted or the server offers none
 * (2025-11-25, basic/transports#listening-for-messages-from-the-server). It goes on where it was, if events have ids.
 */
export async function listenLegacy(listening: LegacyListening): Promise<void> {
  const { signal, onMessage, onEnd, request, ...exchange } = listening;
  const trail = new Trail();
  let abort = (): void => undefined;
  signal.addEventListener('abort', () => abort(), { once: true });
  while (!signal.aborted) {
    const { lastId } = trail;
    trail.begin();
    const end = await new Promise<HttpEnd>((resolve) => {
      abort = exchangeHttp({
        ...exchange,
        request: lastId === undefined ? request : resumption(request, lastId),
        isStream: true,
        endsWithResponse: false,
        trail,
        onMessage,
        onEnd: resolve,
      });
    });
    onEnd(end);
    const isRefused = end.kind === 'answered' && !isSuccess(end.status);
    if (isRefused && lastId === undefined) return;
    // A server that does not know the event any more may begin a stream anew.
    if (isRefused) trail.forget();
    await pause(trail.waitMs, signal);
  }
}

/** The same request, for what comes after an event. */
export function resumption(request: HttpRequest, lastId: string): HttpRequest {
  return { ...request, headers: [...request.headers, LAST_EVENT_ID, lastId] };
}

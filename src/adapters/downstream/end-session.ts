import type { Log } from '../../gateway/ports.ts';
import type { HttpClient, HttpRequest } from '../../platform/http-client.ts';
import { atMost } from '../../platform/waiting.ts';
import { exchangeHttp } from './http-exchange.ts';

export interface SessionEnd {
  readonly client: HttpClient;
  /** The DELETE that names the session. */
  readonly request: HttpRequest;
  readonly server: string;
  readonly log: Log;
}

const LIMIT_MS = 1_000;

/** Tells a legacy server that its session is not needed any more; it may refuse to end it, or be gone. */
export async function endSession({ client, request, server, log }: SessionEnd): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    exchangeHttp({
      client,
      request,
      isStream: false,
      endsWithResponse: true,
      server,
      log,
      onMessage: () => undefined,
      onEnd: () => resolve(),
    });
  });
  await atMost(ended, LIMIT_MS);
}

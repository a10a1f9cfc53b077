import type { IncomingMessage, ServerResponse } from 'node:http';
import { isStoreAway } from '../../core/freshness.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Settings } from '../../core/settings.ts';
import * as headers from '@assay-mcp/protocol/headers';
import { buildComment, buildPrimingEvent, buildRetry, KEEP_ALIVE } from '@assay-mcp/protocol/sse';
import { pause } from '@assay-mcp/kit/platform/pause';
import { writeStreamHead } from './http-stream.ts';
import { namesModern } from './modern-rules.ts';
import { getRequestPath, isEndpointPath, isSsePath } from './request-path.ts';
import { isEventId } from './session-streams.ts';
import { FIRST_PRIMED, RETRY_MS } from './session-stream.ts';

/** Maximum number of streams that wait, and of those with the same credential. */
const MAX_WAITING = 256;
const MAX_PER_CREDENTIAL = 64;
const KEEP_ALIVE_MS = 15_000;

/** A GET of a legacy session that was refused. */
export interface RefusedStream {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly refusal: Refusal;
  /** Checks everything again and opens the stream. Returns why that is not possible. */
  readonly retry: () => Promise<Refusal | undefined>;
}

/**
 * Streams that are requested while the store is away. The official SDKs give up after two refusals and receive
 * nothing from then on, so such a stream begins at once, with comments only, and continues as that of its session once the store can be
 * read and the token has been checked. Otherwise it ends.
 */
export class WaitingStreams {
  readonly #max: number;
  readonly #byCredential = new Map<string, number>();
  #size = 0;
  #isClosed = false;

  constructor(settings: Pick<Settings, 'limits.connections'>) {
    this.#max = Math.min(MAX_WAITING, Math.ceil(settings['limits.connections'] / 2));
  }

  /** Returns false if this is not such a request, or waiting does not help. If too many wait, the client asks again. */
  add(stream: RefusedStream): boolean {
    const { request, response, refusal } = stream;
    const { authorization: credential = '' } = request.headers;
    if (!isStoreAway(refusal) || !isForSessionStream(request)) return false;
    const others = this.#byCredential.get(credential) ?? 0;
    if (this.#isClosed || this.#size >= this.#max || others >= MAX_PER_CREDENTIAL) {
      askAgainLater(request, response);
      return true;
    }
    this.#size += 1;
    this.#byCredential.set(credential, others + 1);
    void this.#wait(stream).finally(() => {
      this.#size -= 1;
      const left = (this.#byCredential.get(credential) ?? 1) - 1;
      if (left > 0) this.#byCredential.set(credential, left);
      else this.#byCredential.delete(credential);
    });
    return true;
  }

  /** Ends them within a second. */
  close(): void {
    this.#isClosed = true;
  }

  async #wait({ request, response, retry }: RefusedStream): Promise<void> {
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    begin(request, response, 'waiting for the database');
    let writtenMs = performance.now();
    for (;;) {
      await pause(RETRY_MS, leaving.signal);
      if (leaving.signal.aborted) return;
      if (this.#isClosed) break;
      const refusal = await retry();
      if (refusal === undefined) return;
      if (!isStoreAway(refusal)) break;
      if (performance.now() - writtenMs < KEEP_ALIVE_MS) continue;
      response.write(KEEP_ALIVE);
      writtenMs = performance.now();
    }
    response.end();
  }
}

/** Whether this asks for the stream of a legacy session: a GET with a session id that accepts an event stream. */
export function isForSessionStream(request: IncomingMessage): boolean {
  const { method, headers: given } = request;
  if (method !== 'GET' || given[headers.SESSION_ID] === undefined || namesModern(request)) return false;
  const path = getRequestPath(request);
  return isEndpointPath(path) && !isSsePath(path) && headers.parseAccept(given.accept).sse;
}

/**
 * Answers a request for the stream of a session that this process cannot serve now, with a stream that ends at once.
 * Clients ask again after a second, where the official SDKs would give up after two refusals.
 */
export function askAgainLater(request: IncomingMessage, response: ServerResponse): void {
  begin(request, response, 'not available here now; ask again');
  response.end();
}

/** The client repeats the event id if the stream ends too early, so that a response is not lost. */
function begin({ headers: given }: IncomingMessage, response: ServerResponse, comment: string): void {
  const { [headers.LAST_EVENT_ID]: lastEventId, [headers.PROTOCOL_VERSION]: version } = given;
  writeStreamHead(response);
  response.write(buildComment(comment));
  const isPrimed = typeof version === 'string' && version >= FIRST_PRIMED;
  response.write(
    isPrimed && typeof lastEventId === 'string' && isEventId(lastEventId)
      ? buildPrimingEvent(lastEventId, RETRY_MS)
      : buildRetry(RETRY_MS),
  );
}

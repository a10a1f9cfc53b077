import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Cancellation } from '../../core/cancellation.ts';
import type { Refusal, RefusalCode } from '../../core/refusal.ts';
import type { Holder, Identity } from '../../core/subject.ts';
import type { Settings } from '../../core/settings.ts';
import type { ServerRequest } from '../../gateway/ports/link.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { Era } from '../../protocol/eras.ts';
import * as headers from '../../protocol/headers.ts';
import type { RequestMessage } from '../../protocol/message.ts';
import type { ClientLoads } from './client-load.ts';
import { handleRequest, type Outcome, refusal } from './handle-request.ts';
import type { Caller } from '../../gateway/relay/call.ts';
import { HttpAnswer, sendJson, type StreamSource } from './http-answer.ts';
import type { InFlight, OpenRequests } from './in-flight.ts';
import type { Session, Sessions } from './session.ts';

/** One POST to an MCP endpoint, its body read. */
export interface Post {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly view: View;
  readonly identity: Identity;
  readonly settings: Settings;
  readonly sessions: Sessions;
  /** Of clients without a session. */
  readonly loads: ClientLoads;
  /** Subscriptions that are open, to be ended in good order. */
  readonly subscriptions: Set<OpenSubscription>;
  readonly openRequests: OpenRequests;
}

/** A stream on which a modern client hears of changes. */
export interface OpenSubscription {
  readonly holder: Holder;
  readonly end: () => void;
}

/** Who asks, and where its requests stand that it may cancel; a modern client cancels by going away. */
export interface Asking {
  readonly caller: Caller;
  readonly identity: Identity;
  readonly inFlight: InFlight | undefined;
  /** Of a legacy client. */
  readonly session?: Session;
}

/** A refusal of the HTTP exchange itself: its status is that of the code, in either era. */
export function refuse(
  { response }: Pick<Post, 'response'>,
  what: Refusal,
  whose: { readonly idText: string | undefined; readonly era: Era },
): void {
  const { pieces } = refusal(whose.idText, whose.era, what);
  const { status } = refusal(undefined, whose.era, what);
  sendJson(response, status, { headers: HEADERS[what.code] ?? {}, pieces });
}

const HEADERS: Readonly<Partial<Record<RefusalCode, OutgoingHttpHeaders>>> = {
  // In seconds; an answer that makes room may come at any moment.
  CLIENT_BUSY: { 'retry-after': '1' },
  SHUTTING_DOWN: { connection: 'close' },
};

/** What bounds the requests of one client. */
export interface Places {
  readonly limit: number;
  /** How many of the wanted places were free, and are taken until the response is closed. */
  take(response: ServerResponse, wanted: number): number;
}

/** Whether the client may have one more request under way; it has been told where it may not. */
export function isAdmitted(
  post: Post,
  places: Places,
  whose: { readonly idText: string; readonly era: Era },
): boolean {
  if (places.take(post.response, 1) === 1) return true;
  refuse(post, { code: 'CLIENT_BUSY', limit: places.limit }, whose);
  return false;
}

/** An answer to as many requests as the body had; `streams`: where the client can come back to it. */
export function openAnswer(
  { request, response, settings }: Post,
  batch: { readonly size: number } | undefined,
  streams: StreamSource | undefined,
): HttpAnswer {
  const { accept } = request.headers;
  const answer = new HttpAnswer(response, {
    json: headers.accepts(accept, 'application/json'),
    sse: headers.accepts(accept, 'text/event-stream'),
    expected: batch?.size ?? 1,
    isBatch: batch !== undefined,
    mostUnreadBytes: settings['limits.unreadBytes'],
    streams,
  });
  response.once('close', () => answer.abandon());
  return answer;
}

/** Leads one request through and says its outcome. */
export async function answerRequest(
  {
    response,
    answer,
    openRequests,
  }: Pick<Post, 'response' | 'openRequests'> & { readonly answer: HttpAnswer },
  message: RequestMessage,
  { caller, identity, inFlight, session }: Asking,
): Promise<void> {
  const cancellation = inFlight === undefined ? new Cancellation() : inFlight.begin(message.idText);
  if (cancellation === undefined) {
    const reason = 'a request with this id is under way';
    answer.respond(refusal(message.idText, caller.era, { code: 'MESSAGE_INVALID', reason }));
    return;
  }
  // A client that goes away cancels in the modern era alone (2025-11-25, basic/transports; 2026-07-28, streamable-http#cancellation).
  if (inFlight === undefined)
    response.once('close', () => {
      if (!response.writableFinished) cancellation.cancel();
    });
  const place = openRequests.begin(cancellation);
  let outcome: Outcome;
  try {
    const send = (bytes: Buffer): boolean => answer.notify(bytes);
    const ask = session && ((serverRequest: ServerRequest) => session.ask(serverRequest, send));
    outcome = await handleRequest({ caller, identity, message, cancellation, notify: send, ask });
  } finally {
    inFlight?.end(message.idText);
    openRequests.end(place);
  }
  if (!cancellation.isCancelled) answer.respond(outcome);
  else if (openRequests.isGivenUp(cancellation))
    answer.respond(refusal(message.idText, caller.era, { code: 'SHUTTING_DOWN' }));
  else answer.withdraw();
}

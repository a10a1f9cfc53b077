import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Refusal, RefusalCode } from '../../core/refusal.ts';
import type { Holder, Identity } from '../../core/subject.ts';
import type { Settings } from '../../core/settings.ts';
import type { ServerRequest } from '../../gateway/ports/link.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import * as headers from '@assay-mcp/protocol/headers';
import type { RequestMessage } from '@assay-mcp/protocol/message';
import type { ClientLoads } from './client-load.ts';
import type { ConnectionOwners } from './connection-owners.ts';
import { handleRequest, type Outcome, toRefusalOutcome } from './handle-request.ts';
import type { Caller, Relay } from '../../gateway/relay/call.ts';
import { HttpAnswer, sendJson, type StreamSource } from './http-answer.ts';
import type { InFlight, OpenRequests } from './in-flight.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

/** One POST to an MCP endpoint, with its body read. */
export interface Post {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly relay: Relay;
  readonly view: View;
  readonly identity: Identity;
  readonly settings: Settings;
  /** Beyond this many unread bytes a stream is closed. */
  readonly maxUnreadBytes: number;
  readonly sessions: Sessions;
  /** The loads of clients without a session. */
  readonly loads: ClientLoads;
  readonly owners: ConnectionOwners;
  /** Open subscriptions, to be ended on shutdown. */
  readonly subscriptions: Set<OpenSubscription>;
  readonly openRequests: OpenRequests;
}

/** A stream that notifies a modern client of changes. */
export interface OpenSubscription {
  readonly view: View;
  /** The client's JSON text with its name and version. */
  readonly clientInfo: string | undefined;
  readonly holder: Holder;
  readonly end: () => void;
}

/**
 * The caller, and its requests that it may cancel. `inFlight` is undefined for modern clients, which cancel by
 * disconnecting.
 */
export interface RequestSource {
  readonly caller: Caller;
  readonly identity: Identity;
  readonly inFlight: InFlight | undefined;
  /** Set for legacy clients. */
  readonly session?: Session;
}

/** Refuses the HTTP exchange itself, with the status of the refusal's code in either era. */
export function refuse(
  { response }: Pick<Post, 'response'>,
  refused: Refusal,
  target: { readonly idText: string | undefined; readonly era: Era },
): void {
  const { pieces } = toRefusalOutcome(target.idText, target.era, refused);
  const { status } = toRefusalOutcome(undefined, target.era, refused);
  sendJson(response, status, { headers: HEADERS[refused.code] ?? {}, pieces });
}

const HEADERS: Readonly<Partial<Record<RefusalCode, OutgoingHttpHeaders>>> = {
  // In seconds; any response that ends frees a slot.
  CLIENT_BUSY: { 'retry-after': '1' },
  STORE_UNAVAILABLE: { 'retry-after': '1' },
  SHUTTING_DOWN: { connection: 'close' },
};

/** Limits the requests of one client. */
export interface RequestSlots {
  readonly limit: number;
  /** Takes up to `wanted` free slots until the response is closed, and returns how many. */
  take(response: ServerResponse, wanted: number): number;
}

/** Whether the client may have another request in progress. If not, the refusal has been sent. */
export function isAdmitted(
  post: Post,
  slots: RequestSlots,
  target: { readonly idText: string; readonly era: Era },
): boolean {
  if (slots.take(post.response, 1) === 1) return true;
  refuse(post, { code: 'CLIENT_BUSY', limit: slots.limit }, target);
  return false;
}

/** An answer to all requests in the body. `streams` lets the client resume it. */
export function openAnswer(
  { request, response, maxUnreadBytes }: Post,
  batch: { readonly size: number } | undefined,
  streams: StreamSource | undefined,
): HttpAnswer {
  const answer = new HttpAnswer(response, {
    accepted: headers.parseAccept(request.headers.accept),
    expected: batch?.size ?? 1,
    isBatch: batch !== undefined,
    maxUnreadBytes,
    streams,
  });
  // `once` costs more, and the event occurs only once anyway.
  response.on('close', () => answer.abandon());
  return answer;
}

/** Receives the outcome of a request, and messages before it. */
export type RequestAnswer = Pick<HttpAnswer, 'notify' | 'respond' | 'withdraw'>;

/** Processes one request and sends its outcome. */
export async function answerRequest(
  {
    response,
    answer,
    openRequests,
  }: Pick<Post, 'response' | 'openRequests'> & { readonly answer: RequestAnswer },
  message: RequestMessage,
  { caller, identity, inFlight, session }: RequestSource,
): Promise<void> {
  const cancellation = inFlight === undefined ? new Cancellation() : inFlight.begin(message.idText);
  if (cancellation === undefined) {
    const reason = 'a request with this id is in progress';
    answer.respond(toRefusalOutcome(message.idText, caller.era, { code: 'MESSAGE_INVALID', reason }));
    return;
  }
  // Disconnecting cancels a request only in the modern era (2025-11-25, basic/transports; 2026-07-28,
  // streamable-http#cancellation).
  if (inFlight === undefined)
    response.on('close', () => {
      if (!response.writableFinished) cancellation.cancel();
    });
  const openId = openRequests.begin(cancellation);
  let outcome: Outcome;
  try {
    const send = (bytes: Buffer): boolean => answer.notify(bytes);
    const ask = session && ((serverRequest: ServerRequest) => session.ask(serverRequest, send));
    outcome = await handleRequest({ caller, identity, message, cancellation, notify: send, ask });
  } finally {
    inFlight?.end(message.idText);
    openRequests.end(openId);
  }
  if (!cancellation.isCancelled) answer.respond(outcome);
  else if (openRequests.isGivenUp(cancellation))
    answer.respond(toRefusalOutcome(message.idText, caller.era, { code: 'SHUTTING_DOWN' }));
  else answer.withdraw();
}

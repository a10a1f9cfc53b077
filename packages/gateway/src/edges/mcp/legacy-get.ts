import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Holder } from '../../core/subject.ts';
import type { View } from '../../gateway/catalog/view.ts';
import * as headers from '@assay-mcp/protocol/headers';
import { refuseMethod, sendRefusal } from './http-answer.ts';
import { findSession } from './legacy-post.ts';
import type { Session, Sessions } from './session.ts';
import type { OpenRequests } from './in-flight.ts';

/** A GET or DELETE of a legacy client to an MCP endpoint. */
export interface SessionRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly view: View;
  readonly identity: Holder;
  readonly sessions: Sessions;
  readonly openRequests: OpenRequests;
}

/** Answers a request of the legacy era other than POST. */
export function answerWithoutBody(session: SessionRequest): void {
  const { request, response } = session;
  if (request.method === 'GET') answerGet(session);
  else if (request.method === 'DELETE') answerDelete(session);
  else refuseMethod(response, 'GET, POST, DELETE');
}

/**
 * Opens the stream for messages that belong to none of the client's requests. With `Last-Event-ID`, resumes the stream
 * of that event (2025-11-25, basic/transports#resumability-and-redelivery).
 */
function answerGet(sessionRequest: SessionRequest): void {
  const { request, response, openRequests } = sessionRequest;
  if (!headers.parseAccept(request.headers.accept).sse) {
    sendRefusal(response, { code: 'NOT_ACCEPTABLE' });
    return;
  }
  const session = visited(sessionRequest, 'GET');
  if (session === undefined) return;
  const lastEventId = request.headers[headers.LAST_EVENT_ID];
  if (typeof lastEventId === 'string' && lastEventId !== '') resume(session, response, lastEventId);
  else if (openRequests.isStopping) sendRefusal(response, { code: 'SHUTTING_DOWN' });
  else session.streams.listen(response);
}

function answerDelete(sessionRequest: SessionRequest): void {
  const session = visited(sessionRequest, 'DELETE');
  if (session === undefined) return;
  sessionRequest.sessions.end(session);
  sessionRequest.response.writeHead(204).end();
}

function resume(session: Session, response: ServerResponse, lastEventId: string): void {
  switch (session.streams.resume(response, lastEventId)) {
    case 'resumed':
      return;
    case 'over':
      // Status 204 tells the client not to reconnect (HTML standard, server-sent events).
      response.writeHead(204).end();
      return;
    case 'unknown':
      sendRefusal(response, { code: 'EVENT_UNKNOWN' });
  }
}

/** Undefined if there is no such session; the refusal has been sent. */
function visited(sessionRequest: SessionRequest, method: string): Session | undefined {
  if (sessionRequest.request.headers[headers.SESSION_ID] !== undefined)
    return findSession(sessionRequest, undefined);
  sendRefusal(sessionRequest.response, { code: 'HTTP_METHOD_UNKNOWN', method, allowed: 'POST' });
  return undefined;
}

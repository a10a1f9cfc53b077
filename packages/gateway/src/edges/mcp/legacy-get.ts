import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal, RefusalCode } from '../../core/refusal.ts';
import * as headers from '@assay-mcp/protocol/headers';
import { refuseMethod, sendRefusal } from './http-answer.ts';
import { refuse } from './http-request.ts';
import { findSession, lookUpSession } from './legacy-post.ts';
import type { Session } from './session.ts';
import type { Sessions, SessionUse } from './sessions.ts';
import type { OpenRequests } from './in-flight.ts';
import { askAgainLater } from './waiting-streams.ts';

/** A GET or DELETE of a legacy client to an MCP endpoint. */
export interface SessionRequest extends SessionUse {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly sessions: Sessions;
  readonly openRequests: OpenRequests;
  /** Keeps a stream that was refused until the store is back. Returns false if it must be refused. */
  readonly wait: (refusal: Refusal) => boolean;
}

/** Answers a request of the legacy era other than POST. */
export async function answerWithoutBody(session: SessionRequest): Promise<void> {
  const { request, response } = session;
  if (request.method === 'GET') await answerGet(session);
  else if (request.method === 'DELETE') await answerDelete(session);
  else refuseMethod(response, 'GET, POST, DELETE');
}

async function answerGet(sessionRequest: SessionRequest): Promise<void> {
  const { request, response, wait } = sessionRequest;
  if (!headers.parseAccept(request.headers.accept).sse) {
    sendRefusal(response, { code: 'NOT_ACCEPTABLE' });
    return;
  }
  const refusal = await openStream(sessionRequest);
  if (refusal === undefined || wait(refusal)) return;
  if (refusal.code === 'SHUTTING_DOWN') askAgainLater(request, response);
  else if (OF_STREAMS.has(refusal.code)) sendRefusal(response, refusal);
  else refuse(sessionRequest, refusal, { idText: undefined, era: 'legacy' });
}

const OF_STREAMS: ReadonlySet<RefusalCode> = new Set(['HTTP_METHOD_UNKNOWN', 'EVENT_UNKNOWN']);

/**
 * Opens the stream for messages that belong to none of the client's requests. With `Last-Event-ID`, resumes the stream
 * of that event (2025-11-25, basic/transports#resumability-and-redelivery). Returns why that is not possible.
 */
export async function openStream(sessionRequest: Omit<SessionRequest, 'wait'>): Promise<Refusal | undefined> {
  const { request, response, openRequests } = sessionRequest;
  const { [headers.SESSION_ID]: id, [headers.LAST_EVENT_ID]: lastEventId } = request.headers;
  if (id === undefined) return { code: 'HTTP_METHOD_UNKNOWN', method: 'GET', allowed: 'POST' };
  const found = await lookUpSession(sessionRequest);
  if (!found.ok) return found.error;
  const session = found.value;
  if (request.socket.destroyed) return undefined;
  if (typeof lastEventId === 'string' && lastEventId !== '') return resume(session, response, lastEventId);
  if (openRequests.isStopping) return { code: 'SHUTTING_DOWN' };
  session.listen(response);
  return undefined;
}

async function answerDelete(sessionRequest: SessionRequest): Promise<void> {
  const { request, sessions, response } = sessionRequest;
  if (request.headers[headers.SESSION_ID] === undefined) {
    sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method: 'DELETE', allowed: 'POST' });
    return;
  }
  const session = await findSession(sessionRequest, undefined);
  if (session === undefined) return;
  const ended = await sessions.endByClient(session);
  if (ended.ok) response.writeHead(204).end();
  else refuse(sessionRequest, ended.error, { idText: undefined, era: 'legacy' });
}

function resume(session: Session, response: ServerResponse, lastEventId: string): Refusal | undefined {
  const outcome = session.resume(response, lastEventId);
  if (outcome === 'unknown') return { code: 'EVENT_UNKNOWN' };
  // Status 204 tells the client not to reconnect (HTML standard, server-sent events).
  if (outcome === 'over' && !response.headersSent) response.writeHead(204);
  if (outcome === 'over') response.end();
  return undefined;
}

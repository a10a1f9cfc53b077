import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isSameHolder } from '../../core/subject.ts';
import { getEra, SUPPORTED_VERSIONS } from '@assay-mcp/protocol/eras';
import * as headers from '@assay-mcp/protocol/headers';
import type { Message, RequestMessage, ResponseMessage } from '@assay-mcp/protocol/message';
import { buildResultMessage, serializeResult } from '@assay-mcp/protocol/reply';
import { toRefusalOutcome } from './handle-request.ts';
import { sendJson } from './http-answer.ts';
import { answerRequest, isAdmitted, openAnswer, refuse, type Post } from './http-request.ts';
import {
  findBatchFault,
  handleNotification,
  toInvalidMessageRefusal,
  readLegacyProfile,
  negotiateVersion,
} from './legacy-rules.ts';
import { readBatch } from './read-message.ts';
import { getRequestPath } from './request-path.ts';
import { buildInitializeResult } from './self.ts';
import type { Session } from './session.ts';
import type { Sessions, SessionUse } from './sessions.ts';

/**
 * Answers a message of the legacy era, in which `initialize` declares version and capabilities for the whole session.
 */
export function answerLegacy(post: Post, message: Message): Promise<void> | undefined {
  if (message.kind === 'request' && message.method === 'initialize') return beginSession(post, message);
  const idText = message.kind === 'notification' ? undefined : message.idText;
  const answer = message.kind === 'response' ? message : undefined;
  const session = findSession(post, idText, answer);
  return session instanceof Promise
    ? session.then((restored) => answerIn(restored, post, message))
    : answerIn(session, post, message);
}

/** `session` is undefined if there is none; the refusal has been sent. */
function answerIn(session: Session | undefined, post: Post, message: Message): Promise<void> | undefined {
  if (session === undefined) return undefined;
  if (message.kind === 'request') {
    if (!isAdmitted(post, session, { idText: message.idText, era: 'legacy' })) return undefined;
    const { response, openRequests } = post;
    const streams = { open: (on: ServerResponse) => session.streams.open(on, message.idText) };
    const answer = openAnswer(post, undefined, streams);
    const { identity } = post;
    const source = { caller: session, identity, inFlight: session.inFlight, session };
    return answerRequest({ response, openRequests, answer }, message, source);
  }
  if (message.kind === 'notification') handleNotification(message, session);
  else {
    const passing = post.sessions.receive(session, message);
    if (passing !== undefined) return passing.then((passed) => accepted(post, passed));
  }
  post.response.writeHead(202).end();
  return undefined;
}

/** `passed`: whether an answer reached the replica that asked. */
function accepted(post: Post, passed: Result<undefined, Refusal>): void {
  if (passed.ok) post.response.writeHead(202).end();
  else refuse(post, passed.error, { idText: undefined, era: 'legacy' });
}

/** A request that names a session. */
type SessionExchange = SessionUse & {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly sessions: Sessions;
};

/**
 * The session that a request names. Undefined if there is none; the refusal has been sent. A promise if this process
 * has to restore it.
 */
export function findSession(
  exchange: SessionExchange,
  idText: string | undefined,
  answer?: ResponseMessage,
): Session | undefined | Promise<Session | undefined> {
  const found = lookUpSession(exchange, answer);
  return found instanceof Promise
    ? found.then((restored) => accept(exchange, restored, idText))
    : accept(exchange, found, idText);
}

function accept(
  exchange: SessionExchange,
  found: Result<Session, Refusal>,
  idText: string | undefined,
): Session | undefined {
  if (found.ok) return exchange.request.socket.destroyed ? undefined : found.value;
  refuse(exchange, found.error, { idText, era: 'legacy' });
  return undefined;
}

/** `answer`: waits while the store is away, because clients do not repeat an answer. */
export function lookUpSession(
  { request, sessions, view, identity, relay }: SessionExchange,
  answer?: ResponseMessage,
): Result<Session, Refusal> | Promise<Result<Session, Refusal>> {
  const { [headers.SESSION_ID]: id, [headers.PROTOCOL_VERSION]: version } = request.headers;
  if (typeof version === 'string' && getEra(version) === undefined)
    return err({ code: 'PROTOCOL_UNSUPPORTED', requested: version, supported: SUPPORTED_VERSIONS });
  if (typeof id !== 'string') return err({ code: 'SESSION_MISSING' });
  const session = sessions.find(id);
  if (session === undefined) {
    const use = { view, identity, relay };
    if (answer === undefined) return sessions.restore(id, use);
    return sessions.restoreForAnswer(id, use, { answer, isGone: () => request.socket.destroyed });
  }
  // It belongs to the endpoint where it began, and to the token with which it began.
  return session.endpoint === view && isSameHolder(session.holder, identity)
    ? ok(session)
    : err({ code: 'SESSION_UNKNOWN' });
}

async function beginSession(post: Post, message: RequestMessage): Promise<void> {
  const { idText } = message;
  const version = negotiateVersion(message);
  if (!version.ok) {
    const { pieces, status } = toRefusalOutcome(idText, 'legacy', version.error);
    sendJson(post.response, status, { headers: {}, pieces });
    return;
  }
  const { relay } = post;
  const begun = await post.sessions.beginLasting({
    relay,
    view: post.view,
    version: version.value,
    profile: readLegacyProfile(message, post.identity.subject),
    holder: post.identity,
  });
  if (!begun.ok) {
    refuse(post, begun.error, { idText, era: 'legacy' });
    return;
  }
  const session = begun.value;
  relay.deps.telemetry?.traffic?.connected({
    client: session.clientInfo,
    transport: 'http',
    revision: session.version,
    endpoint: getRequestPath(post.request),
    subject: session.subject,
    isStateless: false,
    sharesMode: post.view.sharesMode,
  });
  const result = serializeResult(
    'initialize',
    'legacy',
    buildInitializeResult({ view: post.view, tasks: relay.deps.tasks }, session.version),
  );
  const outcome = { pieces: [buildResultMessage(idText, result)], status: 200 };
  openAnswer(post, undefined, undefined).respond(outcome, {
    [headers.SESSION_ID]: session.origin?.publicId ?? session.id,
  });
}

/** Answers a batch, a feature of 2025-03-26 only (2025-03-26, basic/transports#sending-messages-to-the-server). */
export async function answerBatch(post: Post): Promise<void> {
  const target = { idText: undefined, era: 'legacy' } as const;
  const read = await readBatch(post.body);
  if (post.request.socket.destroyed) return;
  if (!read.ok) {
    refuse(post, read.error, target);
    return;
  }
  const messages = read.value;
  const session = await findSession(post, undefined);
  if (session === undefined) return;
  const reason = findBatchFault(messages, session.version);
  if (reason !== undefined) {
    refuse(post, { code: 'MESSAGE_INVALID', reason }, target);
    return;
  }
  for (const message of messages)
    if (message.kind === 'notification') handleNotification(message, session);
    else if (message.kind === 'response') await post.sessions.receive(session, message);
  const requests = messages.filter((message) => message.kind === 'request' || message.kind === 'none');
  if (requests.length === 0) {
    post.response.writeHead(202).end();
    return;
  }
  if (post.openRequests.isStopping) {
    refuse(post, { code: 'SHUTTING_DOWN' }, target);
    return;
  }
  const { response, openRequests } = post;
  const answer = openAnswer(post, { size: requests.length }, session.streams);
  const { identity } = post;
  const source = { caller: session, identity, inFlight: session.inFlight, session };
  const busy = { code: 'CLIENT_BUSY', limit: session.limit } as const;
  let slots = session.take(response, requests.length);
  const each = requests.map(async (message) => {
    if (message.kind === 'none')
      answer.respond({
        ...toRefusalOutcome(message.idText, 'legacy', toInvalidMessageRefusal(message)),
        status: 200,
      });
    else if (slots-- > 0) await answerRequest({ response, openRequests, answer }, message, source);
    else answer.respond(toRefusalOutcome(message.idText, 'legacy', busy));
  });
  await Promise.all(each);
}

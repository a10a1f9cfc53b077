import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation } from '../../core/cancellation.ts';
import type { Refusal } from '../../core/errors.ts';
import type { View } from '../../gateway/view.ts';
import {
  eraOf,
  negotiated,
  SUPPORTED_VERSIONS,
  VERSION_WITHOUT_HEADER,
  type Era,
} from '../../protocol/eras.ts';
import * as headers from '../../protocol/headers.ts';
import { readMessage, type Message, type NoMessage, type RequestMessage } from '../../protocol/message.ts';
import { resultMessage, resultText } from '../../protocol/reply.ts';
import { memberOf, rawOf, scanArray, textOf } from '../../protocol/scan.ts';
import { conduct, refusal, type Caller, type Outcome } from './conduct.ts';
import { HttpAnswer, sendJson } from './http-answer.ts';
import { HttpStream } from './http-stream.ts';
import { envelopeFault, headerFault, isEnveloped, missingEnvelope } from './modern-rules.ts';
import { initialization } from './self.ts';
import type { Session, Sessions } from './session.ts';
import { Subscription } from './subscription.ts';

export interface Post {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly view: View;
  readonly sessions: Sessions;
  /** Subscriptions that are open, to be ended in good order. */
  readonly subscriptions: Set<Subscription>;
}

const OPEN_BRACKET = 0x5b;
const MOST_IN_BATCH = 100;

/** Answers one POST to an MCP endpoint: decides the era, once, and hands over. */
export function answerPost(post: Post): void {
  const { body, request } = post;
  const isModernHeader = headerEra(request) === 'modern';
  if (firstByte(body) === OPEN_BRACKET) {
    answerBatch(post, isModernHeader);
    return;
  }
  const message = readMessage(body);
  if (message.kind === 'none')
    sendRefusal(post, noMessage(message), {
      idText: message.idText,
      era: isModernHeader ? 'modern' : 'legacy',
    });
  else if (message.kind === 'request' && isEnveloped(message)) answerModern(post, message);
  else if (isModernHeader) answerUnenveloped(post, message);
  else answerLegacy(post, message);
}

function headerEra(request: IncomingMessage): Era | undefined {
  const version = request.headers[headers.PROTOCOL_VERSION];
  return typeof version === 'string' ? eraOf(version) : undefined;
}

function firstByte(body: Buffer): number | undefined {
  let at = 0;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1;
  return body[at];
}

function noMessage({ fault, reason }: NoMessage): Refusal {
  return fault === 'not JSON' ? { code: 'MESSAGE_NOT_JSON', reason } : { code: 'MESSAGE_INVALID', reason };
}

interface Whose {
  readonly idText: string | undefined;
  readonly era: Era;
}

/** A refusal of the HTTP exchange itself: its status is that of the code in either era. */
function sendRefusal(post: Post, what: Refusal, { idText, era }: Whose): void {
  const { pieces } = refusal(idText, era, what);
  const { status } = refusal(undefined, era, what);
  sendJson(post.response, status, { headers: {}, pieces });
}

// The modern era: every request stands alone.

function answerModern(post: Post, message: RequestMessage): void {
  const { idText } = message;
  const fault = envelopeFault(message) ?? headerFault(message, post.request.headers);
  if (fault !== undefined) {
    sendRefusal(post, fault, { idText, era: 'modern' });
    return;
  }
  const caller: Caller = { era: 'modern', view: post.view, clientInfo: undefined, logLevel: undefined };
  if (message.method === 'subscriptions/listen') openSubscription(post, message);
  else void answerRequest(post, message, caller);
}

/** The header names a modern revision, the body has no envelope. */
function answerUnenveloped(post: Post, message: Message): void {
  if (message.kind === 'notification') {
    post.response.writeHead(202).end();
    return;
  }
  const idText = message.idText;
  const what: Refusal =
    message.kind === 'response'
      ? { code: 'MESSAGE_INVALID', reason: 'in this revision clients send no responses' }
      : message.method === 'initialize'
        ? {
            code: 'HEADER_MISMATCH',
            header: 'MCP-Protocol-Version',
            reason: 'the revision that it names has no "initialize"',
          }
        : missingEnvelope();
  sendRefusal(post, what, { idText, era: 'modern' });
}

function openSubscription(post: Post, message: RequestMessage): void {
  let stream: HttpStream | undefined;
  const early: Buffer[] = [];
  const opened = Subscription.open({
    view: post.view,
    message,
    send: (bytes) => (stream === undefined ? early.push(bytes) : stream.send(bytes)),
  });
  if (!opened.ok) {
    sendRefusal(post, opened.error, { idText: message.idText, era: 'modern' });
    return;
  }
  const subscription = opened.value;
  post.subscriptions.add(subscription);
  stream = new HttpStream(post.response, () => {
    post.subscriptions.delete(subscription);
    subscription.cancel();
  });
  for (const bytes of early) stream.send(bytes);
}

// The legacy era: what a session said at its start holds for all its requests.

function answerLegacy(post: Post, message: Message): void {
  if (message.kind === 'request' && message.method === 'initialize') {
    beginSession(post, message);
    return;
  }
  const session = sessionOf(post, message.kind === 'notification' ? undefined : message.idText);
  if (session === undefined) return;
  if (message.kind === 'request') void answerRequest(post, message, session);
  else {
    if (message.kind === 'notification') hearNotification(session, message);
    post.response.writeHead(202).end();
  }
}

/** The session that a request names; undefined when there is none and the client has been told. */
export function sessionOf(
  { request, response, sessions }: Pick<Post, 'request' | 'response' | 'sessions'>,
  idText: string | undefined,
): Session | undefined {
  const id = request.headers[headers.SESSION_ID];
  const version = request.headers[headers.PROTOCOL_VERSION];
  const session = typeof id === 'string' ? sessions.find(id) : undefined;
  let what: Refusal | undefined;
  if (typeof version === 'string' && eraOf(version) === undefined)
    what = { code: 'PROTOCOL_UNSUPPORTED', requested: version, supported: SUPPORTED_VERSIONS };
  else if (id === undefined) what = { code: 'SESSION_MISSING' };
  else if (session === undefined) what = { code: 'SESSION_UNKNOWN' };
  if (what === undefined) return session;
  const { status } = refusal(undefined, 'legacy', what);
  sendJson(response, status, { headers: {}, pieces: refusal(idText, 'legacy', what).pieces });
  return undefined;
}

function beginSession(post: Post, message: RequestMessage): void {
  const { idText, bytes, params } = message;
  const started = startOf(message);
  if ('code' in started) {
    sendJson(post.response, 200, { headers: {}, pieces: refusal(idText, 'legacy', started).pieces });
    return;
  }
  const info = memberOf(params, 'clientInfo');
  const session = post.sessions.begin({
    view: post.view,
    version: started.version,
    clientInfo: info && rawOf(bytes, info),
  });
  if (session === undefined) {
    sendRefusal(post, { code: 'SESSION_LIMIT' }, { idText, era: 'legacy' });
    return;
  }
  const result = resultText('initialize', 'legacy', initialization(post.view, session.version));
  const answer = new HttpAnswer(post.response, { ...accepted(post.request), expected: 1, isBatch: false });
  answer.respond(
    { pieces: [resultMessage(idText, result)], status: 200 },
    { [headers.SESSION_ID]: session.id },
  );
}

/** The revision that `initialize` settles. */
export function startOf(message: RequestMessage): { readonly version: string } | Refusal {
  const requested = textOf(message.bytes, memberOf(message.params, 'protocolVersion'));
  if (requested === undefined)
    return { code: 'PARAMS_INVALID', field: 'params.protocolVersion', reason: 'it must be a string' };
  return { version: negotiated(requested) };
}

export function hearNotification(
  session: Pick<Session, 'inFlight'>,
  message: Extract<Message, { kind: 'notification' }>,
): void {
  if (message.method !== 'notifications/cancelled') return;
  const id = memberOf(message.params, 'requestId');
  if (id !== undefined) session.inFlight.cancel(rawOf(message.bytes, id));
}

/** Leads one request through and answers on its own exchange. */
async function answerRequest(post: Post, message: RequestMessage, caller: Caller | Session): Promise<void> {
  const answer = new HttpAnswer(post.response, { ...accepted(post.request), expected: 1, isBatch: false });
  post.response.once('close', () => answer.abandon());
  await respond(post, message, { caller, answer });
}

async function respond(
  post: Post,
  message: RequestMessage,
  { caller, answer }: { readonly caller: Caller | Session; readonly answer: HttpAnswer },
): Promise<void> {
  const inFlight = 'inFlight' in caller ? caller.inFlight : undefined;
  const cancellation = inFlight === undefined ? new Cancellation() : inFlight.begin(message.idText);
  if (cancellation === undefined) {
    answer.respond(
      refusal(message.idText, caller.era, {
        code: 'MESSAGE_INVALID',
        reason: 'a request with this id is under way',
      }),
    );
    return;
  }
  // Only in the modern era a client that goes away cancels (2025-11-25, basic/transports; 2026-07-28, streamable-http#cancellation).
  const { response } = post;
  if (inFlight === undefined)
    response.once('close', () => {
      if (!response.writableFinished) cancellation.cancel();
    });
  let outcome: Outcome;
  try {
    outcome = await conduct({ caller, message, cancellation, notify: (bytes) => answer.notify(bytes) });
  } finally {
    inFlight?.end(message.idText);
  }
  if (cancellation.isCancelled) answer.withdraw();
  else answer.respond(outcome);
}

function accepted({ headers: { accept } }: IncomingMessage): {
  readonly json: boolean;
  readonly sse: boolean;
} {
  return {
    json: headers.accepts(accept, 'application/json'),
    sse: headers.accepts(accept, 'text/event-stream'),
  };
}

// Batches, which only 2025-03-26 has (2025-03-26, basic/transports#sending-messages-to-the-server).

function answerBatch(post: Post, isModern: boolean): void {
  const era: Era = isModern ? 'modern' : 'legacy';
  const spans = scanArray(post.body, 0, true);
  const refuse = (reason: string): void =>
    sendRefusal(post, { code: 'MESSAGE_INVALID', reason }, { idText: undefined, era });
  if (isModern) return refuse('this revision has no batches');
  if (spans === undefined)
    return sendRefusal(
      post,
      { code: 'MESSAGE_NOT_JSON', reason: 'not a JSON array' },
      { idText: undefined, era },
    );
  if (spans.length === 0 || spans.length > MOST_IN_BATCH)
    return refuse(`a batch has 1 to ${MOST_IN_BATCH} messages`);
  const session = sessionOf(post, undefined);
  if (session === undefined) return undefined;
  if (session.version > VERSION_WITHOUT_HEADER) return refuse('the revision of this session has no batches');
  const messages = spans.map(({ start, end }) => readMessage(post.body.subarray(start, end)));
  const requests = messages.filter((message) => message.kind === 'request' || message.kind === 'none');
  if (
    requests.some(
      (message) => message.kind === 'request' && (message.method === 'initialize' || isEnveloped(message)),
    )
  )
    return refuse('a batch may not hold "initialize", nor requests of other revisions');
  for (const message of messages) if (message.kind === 'notification') hearNotification(session, message);
  if (requests.length === 0) {
    post.response.writeHead(202).end();
    return undefined;
  }
  const answer = new HttpAnswer(post.response, {
    ...accepted(post.request),
    expected: requests.length,
    isBatch: true,
  });
  post.response.once('close', () => answer.abandon());
  for (const message of requests)
    if (message.kind === 'none')
      answer.respond({ ...refusal(message.idText, 'legacy', noMessage(message)), status: 200 });
    else void respond(post, message, { caller: session, answer });
  return undefined;
}

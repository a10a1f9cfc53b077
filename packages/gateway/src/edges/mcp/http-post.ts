import type { Socket } from 'node:net';
import type { BodyBudget } from '../../core/body-budget.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Settings } from '../../core/settings.ts';
import { readModernProfile } from '../../gateway/catalog/link-choice.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { TrafficLog } from '../../gateway/ports/telemetry.ts';
import type { Caller } from '../../gateway/relay/call.ts';
import type { SubscriptionQuota } from '../../gateway/relay/client-subscriptions.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import { PROTOCOL_VERSION } from '@assay-mcp/protocol/headers';
import type { Message, NoMessage, RequestMessage } from '@assay-mcp/protocol/message';
import type { HeaderLines } from '@assay-mcp/protocol/parameter-values';
import { getLimitKey } from './client-load.ts';
import { refuseLarge, sendRefusal } from './http-answer.ts';
import {
  refuse,
  type Post,
  answerRequest,
  isAdmitted,
  openAnswer,
  type OpenSubscription,
} from './http-request.ts';
import { HttpStream } from './http-stream.ts';
import { answerBatch, answerLegacy } from './legacy-post.ts';
import { toInvalidMessageRefusal } from './legacy-rules.ts';
import {
  isEnveloped,
  namesModern,
  readClientInfo,
  getClientKey,
  toMissingEnvelopeRefusal,
  findPostFault,
} from './modern-rules.ts';
import { readBody, type ReceivedBody, readFromClient } from './read-message.ts';
import { getRequestPath } from './request-path.ts';
import { Subscription } from './subscription.ts';

const OPEN_BRACKET = 0x5b;

/** Receives and answers one POST to an MCP endpoint. Its body counts until it is answered. */
export async function receivePost(post: Omit<Post, 'body'>, bodies: BodyBudget): Promise<void> {
  const received = await receiveBody(post, { settings: post.settings, bodies });
  if (received === undefined) return;
  try {
    await answerPost({ ...post, body: received.bytes });
  } finally {
    received.reservation.release();
  }
}

/** Determines the era of a message once and dispatches it. Small messages run synchronously. */
function answerPost(post: Post): Promise<void> | undefined {
  const { body, request } = post;
  const era = namesModern(request) ? 'modern' : 'legacy';
  if (firstByte(body) === OPEN_BRACKET) {
    if (era === 'legacy') return answerBatch(post);
    const reason = 'this revision has no batches';
    refuse(post, { code: 'MESSAGE_INVALID', reason }, { idText: undefined, era });
    return undefined;
  }
  const reading = readFromClient(body);
  return reading instanceof Promise
    ? reading.then((message) => answerMessage(post, message, era))
    : answerMessage(post, reading, era);
}

/** The body of a POST with a message. Undefined if it was refused, or the client has left. */
export function receiveBody(
  { request, response, identity }: Pick<Post, 'request' | 'response' | 'identity'>,
  { settings, bodies }: { readonly settings: Settings; readonly bodies: BodyBudget },
): Promise<ReceivedBody | undefined> {
  const type = request.headers['content-type'] ?? '';
  if (type !== 'application/json' && !/^application\/json\s*(?:;|$)/i.test(type)) {
    sendRefusal(response, { code: 'MEDIA_TYPE_UNKNOWN', type });
    return NONE;
  }
  return readBody(request, {
    subject: identity.subject,
    limitBytes: settings['limits.bodyBytes'],
    budget: bodies,
    onRefused: (refusal) => refuseLarge(request, response, refusal),
  });
}

const NONE = Promise.resolve(undefined);

function answerMessage(post: Post, message: Message | NoMessage, era: Era): Promise<void> | undefined {
  if (post.request.socket.destroyed) return undefined;
  // While stopping, only requests are refused. Other messages belong to open requests: cancellations, or answers to
  // server requests.
  if (message.kind === 'request' && post.openRequests.isStopping)
    refuse(post, { code: 'SHUTTING_DOWN' }, { idText: message.idText, era });
  else if (message.kind === 'none')
    refuse(post, toInvalidMessageRefusal(message), { idText: message.idText, era });
  else if (message.kind === 'request' && isEnveloped(message)) return answerModern(post, message);
  else if (era === 'modern' || (message.kind === 'notification' && isEnveloped(message)))
    answerUnenveloped(post, message);
  else return answerLegacy(post, message);
  return undefined;
}

function firstByte(body: Buffer): number | undefined {
  let at = 0;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1;
  return body[at];
}

/** Answers a request of the modern era, in which requests are self-contained. */
function answerModern(post: Post, message: RequestMessage): Promise<void> | undefined {
  const fault = findPostFault(message, post.request);
  if (fault !== undefined) {
    refuse(post, fault, { idText: message.idText, era: 'modern' });
    return undefined;
  }
  const load = post.loads.of(getLimitKey(post.request, post.identity.subject));
  if (!isAdmitted(post, load, { idText: message.idText, era: 'modern' })) return undefined;
  const { subject } = post.identity;
  post.loads.recent.seen(
    post.request.socket,
    { view: post.view, subject },
    () => readModernProfile(message, subject).clientInfo,
  );
  const { traffic } = post.relay.deps.telemetry ?? {};
  if (traffic !== undefined) logClient(traffic, post, message);
  if (message.method === 'subscriptions/listen') {
    openSubscription(post, message, load.quota);
    return undefined;
  }
  const { request } = post;
  const view = viewFor(post, message);
  const headerLines = (): HeaderLines => request.headersDistinct;
  const caller: Caller = {
    era: 'modern',
    relay: post.relay,
    view,
    clientInfo: undefined,
    headerLines,
    httpConnectionId: post.owners.getConnectionId(request.socket, post.identity),
    logLevel: undefined,
  };
  const { response, openRequests, identity } = post;
  const answer = openAnswer(post, undefined, undefined);
  return answerRequest({ response, openRequests, answer }, message, {
    caller,
    identity,
    inFlight: undefined,
  });
}

/** Connections whose client was logged. Checking this per request would cost more. */
const LOGGED = new WeakSet<Socket>();

function logClient(traffic: TrafficLog, post: Post, message: RequestMessage): void {
  const { request, identity } = post;
  const { socket } = request;
  if (LOGGED.has(socket)) return;
  LOGGED.add(socket);
  traffic.connected({
    client: readModernProfile(message, identity.subject).clientInfo,
    transport: 'http',
    revision: String(request.headers[PROTOCOL_VERSION]),
    endpoint: getRequestPath(request),
    subject: identity.subject,
    isStateless: true,
    sharesMode: post.view.sharesMode,
  });
}

function viewFor(
  { view, identity: { subject } }: Post,
  message: RequestMessage,
  lasting?: { readonly isLasting: true },
): View {
  return view.forClient(() => getClientKey(message, subject)).forCaller(subject, lasting);
}

/**
 * Answers a message whose header names a modern revision but whose body has no envelope. The headers of notifications
 * are not defined (2026-07-28, basic/transports/streamable-http#sending-messages), and no notification needs handling.
 */
function answerUnenveloped(post: Post, message: Message): void {
  if (message.kind === 'notification') post.response.writeHead(202).end();
  else refuse(post, faultOf(message), { idText: message.idText, era: 'modern' });
}

function faultOf(message: Exclude<Message, { kind: 'notification' }>): Refusal {
  if (message.kind === 'response')
    return { code: 'MESSAGE_INVALID', reason: 'in this revision clients send no responses' };
  const header = 'MCP-Protocol-Version';
  return message.method === 'initialize'
    ? { code: 'HEADER_MISMATCH', header, reason: 'the revision that it names has no "initialize"' }
    : toMissingEnvelopeRefusal();
}

function openSubscription(post: Post, message: RequestMessage, quota: SubscriptionQuota): void {
  // Messages sent while it opens are buffered: a refusal needs its own HTTP status.
  const sink: { send: (bytes: Buffer) => void } = { send: (bytes) => early.push(bytes) };
  const early: Buffer[] = [];
  const send = (bytes: Buffer): void => sink.send(bytes);
  const opened = Subscription.open({
    relay: post.relay,
    view: viewFor(post, message, { isLasting: true }),
    subject: post.identity.subject,
    message,
    quota,
    send,
  });
  if (!opened.ok) {
    refuse(post, opened.error, { idText: message.idText, era: 'modern' });
    return;
  }
  const subscription = opened.value;
  const stream = new HttpStream(post.response, {
    maxUnreadBytes: post.maxUnreadBytes,
    onClose: () => {
      post.subscriptions.delete(open);
      subscription.cancel();
    },
  });
  for (const bytes of early) stream.send(bytes);
  sink.send = stream.send;
  const open: OpenSubscription = {
    holder: post.identity,
    view: post.view,
    clientInfo: readClientInfo(message),
    end: () => {
      subscription.finish();
      stream.close();
    },
  };
  post.subscriptions.add(open);
}

import type { Socket } from 'node:net';
import type { Refusal } from '../../core/refusal.ts';
import { readModernProfile } from '../../gateway/catalog/link-choice.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { TrafficLog } from '../../gateway/ports/telemetry.ts';
import type { SubscriptionQuota } from '../../gateway/relay/client-subscriptions.ts';
import { PROTOCOL_VERSION } from '../../protocol/headers.ts';
import type { Message, RequestMessage } from '../../protocol/message.ts';
import type { HeaderLines } from '../../protocol/parameter-values.ts';
import { getLimitKey } from './client-load.ts';
import type { Caller } from '../../gateway/relay/call.ts';
import { HttpStream } from './http-stream.ts';
import {
  answerRequest,
  isAdmitted,
  openAnswer,
  refuse,
  type OpenSubscription,
  type Post,
} from './http-request.ts';
import { readClientInfo, getClientKey, toMissingEnvelopeRefusal, findPostFault } from './modern-rules.ts';
import { getRequestPath } from './request-path.ts';
import { Subscription } from './subscription.ts';

/** Answers a request of the modern era, in which requests are self-contained. */
export function answerModern(post: Post, message: RequestMessage): Promise<void> | undefined {
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
export function answerUnenveloped(post: Post, message: Message): void {
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

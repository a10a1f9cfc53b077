import type { Refusal } from '../../core/refusal.ts';
import type { Message, RequestMessage } from '../../protocol/message.ts';
import { clientOf } from './client-load.ts';
import { HttpStream } from './http-stream.ts';
import {
  answerRequest,
  isAdmitted,
  openAnswer,
  refuse,
  type OpenSubscription,
  type Post,
} from './http-request.ts';
import { envelopeFault, headerFault, missingEnvelope } from './modern-rules.ts';
import { Subscription } from './subscription.ts';

/** Answers a request of the modern era, where every request stands alone. */
export async function answerModern(post: Post, message: RequestMessage): Promise<void> {
  const fault = envelopeFault(message) ?? headerFault(message, post.request.headers);
  if (fault !== undefined) {
    refuse(post, fault, { idText: message.idText, era: 'modern' });
    return;
  }
  const load = post.loads.of(clientOf(post.request, post.subject));
  if (!isAdmitted(post, load, { idText: message.idText, era: 'modern' })) return;
  if (message.method === 'subscriptions/listen') {
    openSubscription(post, message);
    return;
  }
  const { view, subject } = post;
  const caller = { era: 'modern', view, subject, clientInfo: undefined, logLevel: undefined } as const;
  const { response, underWay } = post;
  const answer = openAnswer(post, undefined, undefined);
  await answerRequest({ response, underWay, answer }, message, { caller, inFlight: undefined });
}

/** Answers a message whose header names a modern revision, but whose body has no envelope. */
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
    : missingEnvelope();
}

function openSubscription(post: Post, message: RequestMessage): void {
  // Nothing is sent while it opens but what is kept here: its refusal, if there is one, has a status of its own.
  const sink: { send: (bytes: Buffer) => void } = { send: (bytes) => early.push(bytes) };
  const early: Buffer[] = [];
  const opened = Subscription.open({ view: post.view, message, send: (bytes) => sink.send(bytes) });
  if (!opened.ok) {
    refuse(post, opened.error, { idText: message.idText, era: 'modern' });
    return;
  }
  const subscription = opened.value;
  const stream = new HttpStream(post.response, {
    mostUnreadBytes: post.settings['limits.unreadBytes'],
    onClose: () => {
      post.subscriptions.delete(open);
      subscription.cancel();
    },
  });
  for (const bytes of early) stream.send(bytes);
  sink.send = stream.send;
  const open: OpenSubscription = {
    subject: post.subject,
    end: () => {
      subscription.finish();
      stream.close();
    },
  };
  post.subscriptions.add(open);
}

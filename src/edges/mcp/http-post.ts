import type { BodyBudget } from '../../core/body-budget.ts';
import type { Settings } from '../../core/settings.ts';
import type { Era } from '../../protocol/eras.ts';
import type { Message, NoMessage } from '../../protocol/message.ts';
import { refuseLarge, sendRefusal } from './http-refusal.ts';
import { refuse, type Post } from './http-request.ts';
import { answerBatch, answerLegacy } from './legacy-post.ts';
import { toInvalidMessageRefusal } from './legacy-rules.ts';
import { answerModern, answerUnenveloped } from './modern-post.ts';
import { isEnveloped, namesModern } from './modern-rules.ts';
import { readBody, type ReceivedBody, readFromClient } from './read-message.ts';

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

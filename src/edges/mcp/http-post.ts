import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Settings } from '../../core/settings.ts';
import type { Era } from '../../protocol/eras.ts';
import type { Message, NoMessage } from '../../protocol/message.ts';
import { refuseLarge, sendRefusal } from './http-refusal.ts';
import { refuse, type Post } from './http-request.ts';
import { answerBatch, answerLegacy } from './legacy-post.ts';
import { noMessage } from './legacy-rules.ts';
import { answerModern, answerUnenveloped } from './modern-post.ts';
import { isEnveloped, namesModern } from './modern-rules.ts';
import { readBody, readFromClient } from './read-message.ts';

const OPEN_BRACKET = 0x5b;

/** Answers one POST to an MCP endpoint: determines its era once and dispatches it. Small messages run synchronously. */
export function answerPost(post: Post): Promise<void> | undefined {
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
  request: IncomingMessage,
  response: ServerResponse,
  settings: Settings,
): Promise<Buffer | undefined> {
  const type = request.headers['content-type'] ?? '';
  if (type !== 'application/json' && !/^application\/json\s*(?:;|$)/i.test(type)) {
    sendRefusal(response, { code: 'MEDIA_TYPE_UNKNOWN', type });
    return NONE;
  }
  return readBody(request, settings['limits.bodyBytes'], (refusal) =>
    refuseLarge(request, response, refusal),
  );
}

const NONE = Promise.resolve(undefined);

function answerMessage(post: Post, message: Message | NoMessage, era: Era): Promise<void> | undefined {
  if (post.request.socket.destroyed) return undefined;
  // While stopping, only requests are refused. Other messages belong to open requests: cancellations, or answers to
  // server requests.
  if (message.kind === 'request' && post.openRequests.isStopping)
    refuse(post, { code: 'SHUTTING_DOWN' }, { idText: message.idText, era });
  else if (message.kind === 'none') refuse(post, noMessage(message), { idText: message.idText, era });
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

import type { IncomingMessage, ServerResponse } from 'node:http';
import { facesOf, rpcErrorOf } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import { errorMessage } from '../../protocol/reply.ts';
import { challengeOf } from './challenge.ts';
import { sendJson } from './http-answer.ts';

/** A refusal before the message was looked at; it carries no id. */
export function sendRefusal(response: ServerResponse, what: Refusal): void {
  const extra: Record<string, string> = {};
  if (what.code === 'TOKEN_REQUIRED' || what.code === 'SCOPE_MISSING')
    extra['www-authenticate'] = challengeOf(what, response.req.headers.authorization);
  if (what.code === 'TOO_MANY_FAILURES') extra['retry-after'] = String(what.waitSeconds);
  if (what.code === 'HTTP_METHOD_UNKNOWN') extra['allow'] = what.allowed;
  // What is left of a body that was not read would be taken for the next request.
  extra['connection'] = 'close';
  const bytes = errorMessage(undefined, rpcErrorOf(what, true), 'legacy');
  sendJson(response, facesOf(what).http, { headers: extra, pieces: [bytes] });
}

/** How long in ms a client is listened to that sends more than it may, so that it comes to read why it is refused. */
const OVERHEAR_MS = 3_000;

/** Says why, and lets the client finish: a connection that is closed while it still sends is lost with the answer. */
export function refuseLarge(request: IncomingMessage, response: ServerResponse, what: Refusal): void {
  const bytes = errorMessage(undefined, rpcErrorOf(what, true), 'legacy');
  response.writeHead(facesOf(what).http, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    connection: 'close',
  });
  response.write(bytes);
  const limit = setTimeout(() => response.end(), OVERHEAR_MS);
  request.once('close', () => clearTimeout(limit));
  request.once('end', () => response.end());
  request.resume();
}

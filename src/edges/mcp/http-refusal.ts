import type { IncomingMessage, ServerResponse } from 'node:http';
import { challengeOf } from '../../core/challenge.ts';
import { facesOf, rpcErrorOf } from '../../core/errors.ts';
import { metadataAt, type ProtectedResource, type Protection } from '../../core/protected-resource.ts';
import type { Refusal } from '../../core/refusal.ts';
import { errorMessage } from '../../protocol/reply.ts';
import { sendJson } from './http-answer.ts';
import { namesModern } from './modern-rules.ts';

/** A refusal before the message was looked at; it carries no id. `protection`: where a token is to be had. */
export function sendRefusal(response: ServerResponse, what: Refusal, protection?: Protection): void {
  const extra: Record<string, string> = {};
  const { authorization } = response.req.headers;
  if (what.code === 'TOKEN_REQUIRED' || what.code === 'SCOPE_MISSING')
    extra['www-authenticate'] = challengeOf(what, { authorization, protection });
  if (what.code === 'TOO_MANY_FAILURES' || what.code === 'ISSUER_UNAVAILABLE')
    extra['retry-after'] = String(what.waitSeconds);
  if (what.code === 'HTTP_METHOD_UNKNOWN') extra['allow'] = what.allowed;
  // What is left of a body that was not read would be taken for the next request.
  extra['connection'] = 'close';
  sendJson(response, facesOf(what).http, { headers: extra, pieces: [bodyOf(what, response.req)] });
}

/** How long in ms a client is listened to that sends more than it may, so that it comes to read why it is refused. */
const OVERHEAR_MS = 3_000;

/** Says why, and lets the client finish: a connection that is closed while it still sends is lost with the answer. */
export function refuseLarge(request: IncomingMessage, response: ServerResponse, what: Refusal): void {
  const bytes = bodyOf(what, request);
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

/** What the message says of its era is not read yet; what its header says is enough for the form of an error. */
function bodyOf(what: Refusal, request: IncomingMessage): Buffer {
  const era = namesModern(request) ? 'modern' : 'legacy';
  return errorMessage(undefined, rpcErrorOf(what, era === 'legacy'), era);
}

/**
 * Tells, without a token, where one is to be had (RFC 9728, section 3). False where nothing of that kind is at the path,
 * and nothing was answered.
 */
export function answerMetadata(
  request: IncomingMessage,
  response: ServerResponse,
  { path, resource }: { readonly path: string; readonly resource: ProtectedResource },
): boolean {
  const { headers, method = '' } = request;
  const document = metadataAt(path, headers.host ?? '', resource);
  if (document === undefined) return false;
  if (method === 'GET' || method === 'HEAD')
    sendJson(response, 200, {
      // What it says hangs on the name by which this machine was asked.
      headers: { 'cache-control': 'no-cache', vary: 'Host' },
      pieces: [Buffer.from(JSON.stringify(document))],
    });
  else sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method, allowed: 'GET, HEAD' });
  return true;
}

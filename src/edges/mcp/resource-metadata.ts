import type { IncomingMessage, ServerResponse } from 'node:http';
import { metadataAt, type ProtectedResource } from '../../core/protected-resource.ts';
import { sendJson } from './http-answer.ts';
import { sendRefusal } from './http-refusal.ts';

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

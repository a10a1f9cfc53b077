import type { IncomingMessage, ServerResponse } from 'node:http';
import { buildClientDocument, computeOwnClient, findOwnClientPart } from '../../core/own-client.ts';
import { sendJson, sendRefusal } from './http-answer.ts';

/**
 * Answers requests for the client metadata document of a public gateway, and those of browsers that return from a
 * sign-in. Neither needs a token. Returns false, without a response, for other paths.
 */
export function answerOwnClient(
  request: IncomingMessage,
  response: ServerResponse,
  { path, publicUrl }: { readonly path: string; readonly publicUrl: string },
): boolean {
  if (!path.includes('/oauth/')) return false;
  const own = computeOwnClient(publicUrl);
  const part = own && findOwnClientPart(path, own);
  if (own === undefined || part === undefined) return false;
  const { method = '' } = request;
  if (method !== 'GET' && method !== 'HEAD')
    sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method, allowed: 'GET, HEAD' });
  else if (part === 'document')
    sendJson(response, 200, {
      headers: { 'cache-control': `public, max-age=${MAX_AGE_S}` },
      pieces: [Buffer.from(JSON.stringify(buildClientDocument(own)))],
    });
  else response.writeHead(200, PAGE_HEADERS).end(method === 'HEAD' ? undefined : PAGE);
  return true;
}

const MAX_AGE_S = 3_600;

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/** The code in the address is of use only to the process that waits for it, which has the PKCE verifier. */
const PAGE =
  '<!doctype html><html lang="en"><title>Assay</title><p>To finish the sign-in, copy the address of this page into the terminal in which <code>assay auth</code> waits, and press Enter. If you did not start one, close this page.</p></html>';

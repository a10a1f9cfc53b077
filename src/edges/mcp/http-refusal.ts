import type { IncomingMessage, ServerResponse } from 'node:http';
import { formatChallenge } from '../../core/challenge.ts';
import { getReportedCodes, toRpcError } from '../../core/errors.ts';
import { findMetadata, type ProtectedResource, type Protection } from '../../core/protected-resource.ts';
import type { Refusal } from '../../core/refusal.ts';
import { formatRefusal } from '../../core/sentences.ts';
import { escapeHtml, HTML_TYPE, PAGE_HEADERS, prefersHtml, renderWebPage } from '../../core/web-page.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { buildErrorMessage } from '../../protocol/reply.ts';
import { sendJson } from './http-answer.ts';
import { namesModern } from './modern-rules.ts';

/**
 * Refuses a request whose message was not parsed, so the response has no id. `protection` says where to get a token.
 */
export function sendRefusal(response: ServerResponse, what: Refusal, protection?: Protection): void {
  const extra: Record<string, string> = {};
  const { authorization } = response.req.headers;
  if (what.code === 'TOKEN_REQUIRED' || what.code === 'SCOPE_MISSING')
    extra['www-authenticate'] = formatChallenge(what, { authorization, protection });
  if ('waitSeconds' in what) extra['retry-after'] = String(what.waitSeconds);
  if (what.code === 'HTTP_METHOD_UNKNOWN') extra['allow'] = what.allowed;
  // The unread rest of the body would be parsed as the next request.
  extra['connection'] = 'close';
  const { http: status } = getReportedCodes(what);
  if (isBrowser(response.req)) sendPage(response, status, { headers: extra, text: formatRefusal(what) });
  else sendJson(response, status, { headers: extra, pieces: [bodyOf(what, response.req)] });
}

function isBrowser({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && prefersHtml(headers.accept);
}

/** A page for people who open the endpoint in a browser to see whether Assay runs. */
function sendPage(
  response: ServerResponse,
  status: number,
  { headers, text }: { readonly headers: Readonly<Record<string, string>>; readonly text: string },
): void {
  if (response.headersSent || response.destroyed) return;
  const page = renderWebPage('Assay: an MCP endpoint', {
    body: `<main>
<h1>This is an MCP endpoint</h1>
<p>Assay is running. This address answers MCP clients, not browsers: <a href="/">how to connect a client</a>.</p>
<p>What a client would be told: ${escapeHtml(text)}</p>
</main>`,
  });
  const fixed = { ...PAGE_HEADERS, 'content-type': HTML_TYPE, 'cache-control': 'no-store' };
  response.writeHead(status, { ...headers, ...fixed, 'content-length': Buffer.byteLength(page) }).end(page);
}

/** How long in ms to keep reading an oversized body, so that the client gets to read the refusal. */
const OVERHEAR_MS = 3_000;

/** Wraps a handler: if it fails, synchronously or later, the error is logged and the client gets INTERNAL. */
export function guardHandler(
  log: Log,
  answer: (...exchange: Exchange) => Promise<void>,
): (...exchange: Exchange) => void {
  return (request, response) => {
    const fail = (error: unknown): void => {
      const shown = error instanceof Error ? error.stack : String(error);
      log.error('a request failed inside Assay', { error: shown });
      sendRefusal(response, { code: 'INTERNAL' });
    };
    try {
      answer(request, response).catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

type Exchange = readonly [request: IncomingMessage, response: ServerResponse];

export function refuseMethod(response: ServerResponse, allowed: string): void {
  sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method: response.req.method ?? '', allowed });
}

/** Responds and lets the client finish sending. If the connection closes while it still sends, the response is lost. */
export function refuseLarge(request: IncomingMessage, response: ServerResponse, what: Refusal): void {
  const bytes = bodyOf(what, request);
  const extra: Record<string, number> = 'waitSeconds' in what ? { 'retry-after': what.waitSeconds } : {};
  response.writeHead(getReportedCodes(what).http, {
    ...extra,
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

/** The body has not been read yet; the header is enough to choose the error format. */
function bodyOf(what: Refusal, request: IncomingMessage): Buffer {
  const era = namesModern(request) ? 'modern' : 'legacy';
  return buildErrorMessage(undefined, toRpcError(what, era === 'legacy'), era);
}

/**
 * Serves the protected resource metadata, without a token (RFC 9728, section 3). Returns false, without a response, if
 * the path has none.
 */
export function answerMetadata(
  request: IncomingMessage,
  response: ServerResponse,
  { path, resource }: { readonly path: string; readonly resource: ProtectedResource },
): boolean {
  const { headers, method = '' } = request;
  const document = findMetadata(path, headers.host ?? '', resource);
  if (document === undefined) return false;
  if (method === 'GET' || method === 'HEAD')
    sendJson(response, 200, {
      // The document depends on the host name in the request.
      headers: { 'cache-control': 'no-cache', vary: 'Host' },
      pieces: [Buffer.from(JSON.stringify(document))],
    });
  else sendRefusal(response, { code: 'HTTP_METHOD_UNKNOWN', method, allowed: 'GET, HEAD' });
  return true;
}

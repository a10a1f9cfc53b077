import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseAllowedOrigins } from '../../core/allowed-origins.ts';
import type { Settings } from '../../core/settings.ts';
import { createLocalCheck, findOriginFault } from './guard.ts';

export interface CorsOptions {
  readonly isLocal: ReturnType<typeof createLocalCheck>;
  readonly allowedOrigins: ReadonlySet<string>;
}

export function createCors(options: { readonly host: string; readonly settings: Settings }): CorsOptions {
  const allowedOrigins = parseAllowedOrigins(options.settings['mcp.allowedOrigins']);
  return { isLocal: createLocalCheck(options), allowedOrigins };
}

/**
 * Adds the CORS headers for a page of an allowed origin, and answers its preflight. Returns true if it answered. Cookies
 * are never allowed, and admission does not depend on any of this (Fetch standard, section 3.3).
 */
export function answerCors(
  request: IncomingMessage,
  response: ServerResponse,
  { isLocal, allowedOrigins }: CorsOptions,
): boolean {
  const { origin, 'access-control-request-headers': asked } = request.headers;
  if (origin === undefined || !allowedOrigins.has(origin)) return false;
  if (findOriginFault(request, isLocal(request), allowedOrigins) !== undefined) return false;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('vary', 'Origin');
  if (isPreflight(request)) {
    response.writeHead(204, {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': listAllowedHeaders(asked),
      'access-control-max-age': MAX_AGE_S,
    });
    response.end();
    return true;
  }
  response.setHeader('access-control-expose-headers', EXPOSED);
  return false;
}

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** How long a browser may remember a preflight. */
const MAX_AGE_S = '600';

/** Those that clients read: the session, where to sign in, and when to try again. */
const EXPOSED = 'Mcp-Session-Id, WWW-Authenticate, Retry-After';

const ALLOWED = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'Mcp-Protocol-Version',
  'Mcp-Session-Id',
  'Mcp-Method',
  'Mcp-Name',
];

/** Bounds of what a preflight may ask for: as many parameters as a tool has in headers, and more. */
const MAX_LIST_LENGTH = 4_096;
const MCP_HEADER = /^mcp-[\w.-]{1,128}$/i;

/** Browsers have no pattern for `Mcp-Param-*`, so those that the preflight names are repeated. */
function listAllowedHeaders(asked = ''): string {
  const names = asked.length > MAX_LIST_LENGTH ? [] : asked.split(',').map((name) => name.trim());
  return [...ALLOWED, ...names.filter((name) => MCP_HEADER.test(name))].join(', ');
}

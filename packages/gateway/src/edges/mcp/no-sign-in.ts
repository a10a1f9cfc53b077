import type { IncomingMessage, ServerResponse } from 'node:http';
import { METADATA_PATH } from '../../core/protected-resource.ts';
import { sendJson } from './http-answer.ts';

/**
 * Clients look here for an OAuth sign-in after a 401. Without metadata they fall back to registering at /register, and
 * show its error to their user (MCP 2025-03-26, basic/authorization#fallbacks-for-servers-without-metadata-discovery).
 */
const DISCOVERY: readonly string[] = [
  METADATA_PATH,
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
];
/** Whether clients look for OAuth metadata there. */
export function isDiscoveryPath(path: string): boolean {
  return DISCOVERY.some((each) => path === each || path.startsWith(`${each}/`));
}

const FALLBACKS: ReadonlySet<string> = new Set(['/register', '/authorize', '/token']);

const NO_SIGN_IN =
  'Assay has no OAuth sign-in here, as auth.issuer is not set. Give the client a token instead: run `assay token create NAME`, and set the header "Authorization: Bearer <token>" in its entry for this server.';

/**
 * Tells clients of a gateway without an issuer that there is no sign-in, and what to do. Returns false, without a
 * response, for other paths.
 */
export function answerNoSignIn(request: IncomingMessage, response: ServerResponse, path: string): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const isDiscovery = isRead && isDiscoveryPath(path);
  if (!isDiscovery && !FALLBACKS.has(path)) return false;
  // The unread body would be parsed as the next request.
  const headers = { 'cache-control': 'no-store', ...(!isRead && { connection: 'close' }) };
  // The error format of OAuth (RFC 6749, section 5.2), of which clients show the description.
  const body = { error: isDiscovery ? 'not_found' : 'access_denied', error_description: NO_SIGN_IN };
  sendJson(response, isDiscovery ? 404 : 403, { headers, pieces: [Buffer.from(JSON.stringify(body))] });
  return true;
}

import type { IncomingMessage } from 'node:http';
import { canAllowOrigin } from '../../core/allowed-origins.ts';
import { isWithin } from '../../core/protected-resource.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Settings } from '../../core/settings.ts';
import { LOCAL_USER, type Identity } from '../../core/subject.ts';
import { findCookieFault, findSessionCookie } from '../../core/session-cookie.ts';
import { parseBearer, looksLikeToken } from '../../core/token.ts';
import type { Gate } from '../../gateway/ports/gate.ts';
import type { PageSessions } from '../../gateway/ports/page-sessions.ts';
import { getRequestPath } from './request-path.ts';

export interface GuardOptions {
  /** The address on which the server listens. */
  readonly host: string;
  /** With the URL of a proxy on this machine, which passes on the requests of others. */
  readonly settings?: Pick<Settings, 'auth.publicUrl'> | undefined;
  /** Whether clients without a token are admitted; on loopback only. */
  readonly isOpen: boolean;
  readonly gate: Gate;
  /** Other origins whose pages may send requests with a token. Undefined except for MCP endpoints. */
  readonly allowedOrigins?: ReadonlySet<string> | undefined;
  /** Also admits browsers that have signed in. Undefined for MCP endpoints, which accept no cookies. */
  readonly sessions?: Pick<PageSessions, 'admit'> | undefined;
}

/**
 * Decides whether a request is admitted and under which identity, before its body is read. Returns a promise only if
 * the gate does.
 */
export type Guard = (request: IncomingMessage) => Admission | Promise<Admission>;

type Admission = Result<Identity, Refusal>;

const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

const LET_IN = ok(LOCAL_USER);

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAME.test(host) || host === '::1';
}

/**
 * Whether a request must have come from this machine: Assay listens on loopback, and the Host is not that of
 * `auth.publicUrl`. A proxy on this machine passes on requests with that Host, and they need a token.
 */
export function createLocalCheck({
  host,
  settings,
}: Pick<GuardOptions, 'host' | 'settings'>): (request: IncomingMessage) => boolean {
  const publicUrl = settings?.['auth.publicUrl'] ?? '';
  if (!isLoopback(host)) return () => false;
  const publicHost = publicUrl === '' ? '' : new URL(publicUrl).host;
  if (publicHost === '' || isLoopback(publicHost)) return () => true;
  return ({ headers }) => headers.host?.toLowerCase() !== publicHost;
}

export function createGuard({ isOpen, gate, allowedOrigins, sessions, ...listening }: GuardOptions): Guard {
  const isLocalRequest = createLocalCheck(listening);
  return (request) => {
    const { authorization, origin, host: own = '' } = request.headers;
    const isLocal = isLocalRequest(request);
    const fault = findOriginFault(request, isLocal, allowedOrigins);
    if (fault !== undefined) return err(fault);
    // Only Assay's own pages share the trust in this machine; another program's page needs a token like any client.
    if (isLocal && isOpen && isForeign(authorization) && isOwnLocalOrigin(origin, own)) return LET_IN;
    if (sessions !== undefined) {
      const session = sessionOf(request);
      const forbidden = session === undefined ? undefined : cookieFaultOf(request);
      if (forbidden !== undefined && !isRead(request)) return forbidden;
      // A forbidden origin is treated like a cross-site read, without the cookie: so a link on another page still opens
      // the admin pages.
      if (session !== undefined && forbidden === undefined) return sessions.admit(session);
    }
    const admitted = gate.admit(authorization, request.socket.remoteAddress ?? '', Date.now());
    return admitted instanceof Promise
      ? admitted.then((later) => forPath(later, request))
      : forPath(admitted, request);
  };
}

/**
 * Host and Origin are checked against DNS rebinding (2026-07-28, basic/transports/streamable-http#security--endpoint):
 * on loopback both must be loopback; elsewhere, where a token is needed anyway, a page's origin must be our own host.
 * `allowed` are further origins; the Host is checked for them too.
 */
export function findOriginFault(
  { headers, rawHeaders }: IncomingMessage,
  isLocal: boolean,
  allowed?: ReadonlySet<string>,
): Refusal | undefined {
  const repeated = repeatedHeader(rawHeaders);
  if (repeated !== undefined)
    return { code: 'HEADER_INVALID', header: repeated, reason: 'it is there more than once' };
  const { host = '', origin } = headers;
  if (isLocal && !LOOPBACK_NAME.test(host)) return { code: 'HOST_FORBIDDEN', host };
  // HTTP/1.1 requires a Host header; load balancer probes use HTTP/1.0.
  if (headers.host !== undefined && !HOST_AND_PORT.test(host))
    return { code: 'HEADER_INVALID', header: 'Host', reason: 'it is not one host with or without a port' };
  if (origin === undefined || allowed?.has(origin) === true) return undefined;
  if (isLocal ? LOOPBACK_ORIGIN.test(origin) : isOwnOrigin(origin, host)) return undefined;
  const canAllow = allowed !== undefined && canAllowOrigin(origin);
  return { code: 'ORIGIN_FORBIDDEN', origin, ...(canAllow && { canAllow }) };
}

/** Refuses what a web page sent: none can reach a socket of the home, except through a proxy that should not be there. */
export function findPageFault({ headers }: IncomingMessage): Refusal | undefined {
  const { origin = 'a web page' } = headers;
  const isOfPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  return isOfPage ? { code: 'ORIGIN_FORBIDDEN', origin } : undefined;
}

/** RFC 9110, section 7.2, without percent-encoded names, which clients do not send. */
const HOST_AND_PORT = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Headers that decisions rely on and that have a single value. If one is repeated, Node takes the first, the last or
 * both, depending on the header, and a proxy may take another. Mcp-Method, Mcp-Name and Mcp-Param-* are compared with
 * the body, which repeated lines never match.
 */
export const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'access-control-request-method',
  'sec-fetch-site',
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'mcp-protocol-version',
  'mcp-session-id',
  'last-event-id',
]);

/** Returns the name as written at its second occurrence. */
function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const candidates = SINGLE_BY_LENGTH[name.length];
    if (candidates === undefined) continue;
    const bit = candidates.get(name) ?? candidates.get(name.toLowerCase());
    if (bit === undefined) continue;
    if ((seen & bit) !== 0) return name;
    seen |= bit;
  }
  return undefined;
}

/** A bit for each single-value header, keyed by name length first, since most other headers differ in length. */
const SINGLE_BY_LENGTH: readonly (ReadonlyMap<string, number> | undefined)[] = byLength([...SINGLE_HEADERS]);

function byLength(names: readonly string[]): readonly (ReadonlyMap<string, number> | undefined)[] {
  const tables: (Map<string, number> | undefined)[] = [];
  for (const [index, name] of names.entries()) (tables[name.length] ??= new Map()).set(name, 1 << index);
  return tables;
}

/** A token is the more deliberate of the two credentials. */
function sessionOf({ headers }: IncomingMessage): string | undefined {
  return headers.authorization === undefined ? findSessionCookie(headers.cookie, headers.host) : undefined;
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function cookieFaultOf({ method = '', headers }: IncomingMessage): Admission | undefined {
  const { host, origin } = headers;
  const fetchSite = headers['sec-fetch-site']?.toString();
  const fault = findCookieFault({ method, host, origin, fetchSite });
  return fault && err(fault);
}

/** A token issued for one endpoint is not valid at another (RFC 8707, section 2). */
function forPath(admitted: Admission, request: IncomingMessage): Admission {
  if (!admitted.ok || admitted.value.within === undefined) return admitted;
  return isWithin(getRequestPath(request), admitted.value.within)
    ? admitted
    : err({ code: 'TOKEN_REQUIRED', reason: 'its aud is a different endpoint' });
}

/** On loopback the server has several names, and its port tells it from other programs. */
function isOwnLocalOrigin(origin: string | undefined, host: string): boolean {
  return origin === undefined || (LOOPBACK_ORIGIN.test(origin) && portIn(origin) === portIn(host));
}

function portIn(text: string): string | undefined {
  return /:(\d{1,5})$/.exec(text)?.[1];
}

function isOwnOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * Whether the credentials were not meant for Assay. A server that needs no token gets such headers from clients still
 * configured for another server, and from proxies with their own password. An invalid Assay token is not foreign.
 */
function isForeign(authorization: string | undefined): boolean {
  return authorization === undefined || !looksLikeToken(parseBearer(authorization) ?? '');
}

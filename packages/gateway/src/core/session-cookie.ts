import type { Refusal } from './refusal.ts';

/** The parts of a request that decide whether its session cookie counts. */
export interface CookieRequest {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** The header Sec-Fetch-Site. */
  readonly fetchSite: string | undefined;
}

/**
 * The session in a Cookie header. Undefined if there is none, or several: another server of the same host may have set
 * one of them.
 */
export function findSessionCookie(cookies: string | undefined, host: string | undefined): string | undefined {
  if (cookies === undefined) return undefined;
  const pairs = cookies.split(';').map((pair) => pair.trim());
  for (const name of [SECURE_PREFIX + cookieName(host), cookieName(host)]) {
    const [found, ...more] = pairs.filter((pair) => pair.startsWith(`${name}=`));
    if (found !== undefined) return more.length > 0 ? undefined : found.slice(name.length + 1);
  }
  return undefined;
}

/**
 * Why a request may not use its cookie: it must come from a page of this origin, or for reads from the user directly.
 * SameSite is not enough, as another port of the same host is the same site.
 */
export function findCookieFault({ method, host, origin, fetchSite }: CookieRequest): Refusal | undefined {
  const isOwn = origin !== undefined && isOwnOrigin(origin, host);
  const isRead = method === 'GET' || method === 'HEAD';
  const isFromPage =
    fetchSite === undefined || fetchSite === 'same-origin' || (isRead && fetchSite === 'none');
  if (isFromPage && (isOwn || (isRead && origin === undefined))) return undefined;
  return { code: 'ORIGIN_FORBIDDEN', origin: origin ?? '' };
}

/** `value` undefined removes the cookie. A browser at an https origin sends it over https only. */
export function setCookie(
  value: string | undefined,
  { host, origin }: Pick<CookieRequest, 'host' | 'origin'>,
  maxAgeSeconds: number,
): string {
  const isSecure = origin?.startsWith('https://') === true;
  const name = (isSecure ? SECURE_PREFIX : '') + cookieName(host);
  return [
    `${name}=${value ?? ''}`,
    `Max-Age=${value === undefined ? 0 : maxAgeSeconds}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ');
}

/** Only the host itself can set a cookie of this name, over https (RFC 6265bis, section 4.1.3.2). */
const SECURE_PREFIX = '__Host-';

/**
 * Cookies do not distinguish ports, so the name does: otherwise two gateways on one machine would sign each other out.
 */
function cookieName(host: string | undefined): string {
  const port = /:(\d{1,5})$/.exec(host ?? '')?.[1];
  return port === undefined ? 'assay_session' : `assay_session_${port}`;
}

function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

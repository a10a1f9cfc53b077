import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../../core/errors.ts';

export interface GuardOptions {
  /** Where the door listens. */
  readonly host: string;
  /** Needed of every request, where one is set. */
  readonly token: string | undefined;
}

/** Decides before anything is read whether a request may come in; undefined: it may. */
export type Guard = (request: IncomingMessage) => Refusal | undefined;

const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAME.test(host) || host === '::1';
}

/**
 * Host and Origin are checked against DNS rebinding (2026-07-28, basic/transports/streamable-http#security--endpoint):
 * on loopback both must be loopback; elsewhere, where a token is needed anyway, a page's origin must be our own host.
 */
export function guard({ host, token }: GuardOptions): Guard {
  const isLocal = isLoopback(host);
  const expected = token === undefined ? undefined : digest(token);
  return ({ headers }) => {
    const given = headers.host ?? '';
    if (isLocal && !LOOPBACK_NAME.test(given)) return { code: 'HOST_FORBIDDEN', host: given };
    const { origin } = headers;
    if (origin !== undefined && !(isLocal ? LOOPBACK_ORIGIN.test(origin) : isOwnOrigin(origin, given)))
      return { code: 'ORIGIN_FORBIDDEN', origin };
    if (expected !== undefined && !timingSafeEqual(digest(bearer(headers.authorization)), expected))
      return { code: 'TOKEN_REQUIRED' };
    return undefined;
  };
}

function isOwnOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** The token of a header; the name of the scheme may be written in any case (RFC 9110, section 11.1). */
function bearer(authorization = ''): string {
  return /^bearer +(.+)$/i.exec(authorization)?.[1] ?? '';
}

/** Equal lengths, so that comparing takes the same time whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { LOCAL, type Identity } from '../../core/subject.ts';
import { bearerOf, looksLikeToken } from '../../core/token.ts';
import type { Gate } from '../../gateway/ports.ts';

export interface GuardOptions {
  /** Where the door listens. */
  readonly host: string;
  /** Whether who comes without a token is let in; on loopback alone. */
  readonly isOpen: boolean;
  readonly gate: Gate;
}

/** Decides before anything is read whether a request may come in, and whose it is. */
export type Guard = (request: IncomingMessage) => Result<Identity, Refusal>;

const LOOPBACK_NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

const LET_IN = ok(LOCAL);

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAME.test(host) || host === '::1';
}

/**
 * Host and Origin are checked against DNS rebinding (2026-07-28, basic/transports/streamable-http#security--endpoint):
 * on loopback both must be loopback; elsewhere, where a token is needed anyway, a page's origin must be our own host.
 */
export function guard({ host, isOpen, gate }: GuardOptions): Guard {
  const isLocal = isLoopback(host);
  return ({ headers, socket }) => {
    const given = headers.host ?? '';
    if (isLocal && !LOOPBACK_NAME.test(given)) return err({ code: 'HOST_FORBIDDEN', host: given });
    const { origin, authorization } = headers;
    if (origin !== undefined && !(isLocal ? LOOPBACK_ORIGIN.test(origin) : isOwnOrigin(origin, given)))
      return err({ code: 'ORIGIN_FORBIDDEN', origin });
    if (isLocal && isOpen && isForeign(authorization)) return LET_IN;
    return gate.admit(authorization, socket.remoteAddress ?? '', Date.now());
  };
}

function isOwnOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * Whether it was not meant for Assay. An open door gets such headers from clients that still send what the server before
 * needed, and from proxies that asked for a password of their own; a token of ours that does not hold is another matter.
 */
function isForeign(authorization: string | undefined): boolean {
  return authorization === undefined || !looksLikeToken(bearerOf(authorization) ?? '');
}

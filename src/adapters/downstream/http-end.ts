import type { Refusal } from '../../core/refusal.ts';
import { endingOf } from './handshake.ts';
import { isSuccess, type HttpEnd } from './http-exchange.ts';

/** Why a request has no response when its exchange is over. */
export function refusalOfEnd(end: HttpEnd, server: string): Refusal {
  if (end.kind === 'unreached') return { code: 'SERVER_UNREACHED', server, cause: end.cause };
  if (end.kind === 'broken') return { code: 'SERVER_ENDED', server, cause: end.cause };
  if (end.refusal !== undefined) return end.refusal;
  if (isSuccess(end.status)) return { code: 'SERVER_ENDED', server, cause: statusCause(end) };
  return { code: 'SERVER_UNAVAILABLE', server, cause: statusCause(end), httpStatus: end.status };
}

/** Why no other request would fare better; undefined: it may. A call that wants more rights than others costs only itself. */
export function lastCause(end: HttpEnd): string | undefined {
  if (end.kind === 'unreached') return end.cause;
  const isWithoutCredentials = end.kind === 'answered' && end.status === 401 && end.refusal !== undefined;
  return isWithoutCredentials ? endingOf(end.refusal).cause : undefined;
}

/** What an answer without a response means, as a phrase. */
export function statusCause({ status, headers: given }: Extract<HttpEnd, { kind: 'answered' }>): string {
  if (isSuccess(status)) return 'its answer ended before the result';
  if (status === 401 || status === 403)
    return `it answers HTTP ${status}: it wants other credentials; set "headers" in its config entry`;
  if (status >= 300 && status < 400)
    return `it answers HTTP ${status} and points to ${JSON.stringify(String(given['location']).slice(0, 200))}; set that as its "url"`;
  return `it answers HTTP ${status}`;
}

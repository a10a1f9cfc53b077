import { type Cause, type CauseCode, mapTexts } from './cause.ts';
import type { Refusal } from './refusal.ts';
import { formatRefusal } from './sentences.ts';

/** The cause to report for a server that refused a request. */
export function toCause(refusal: Refusal): Cause {
  switch (refusal.code) {
    case 'SERVER_UNAVAILABLE':
    case 'SERVER_ENDED':
    case 'SERVER_UNREACHED':
    case 'SESSION_RENEWED':
    case 'SERVER_BUSY':
      return refusal.cause;
    case 'SANDBOX_UNAVAILABLE':
      return { code: 'SANDBOX_UNAVAILABLE', gap: refusal.gap };
    case 'SERVER_TIMEOUT':
      return { code: 'RESPONSE_TIMEOUT', limitMs: refusal.limitMs };
    case 'SERVER_MESSAGE_INVALID':
      return { code: 'RESPONSE_AMBIGUOUS', reason: refusal.reason };
    case 'AUTHORIZATION_NEEDED':
      return { ...refusal, code: 'SIGN_IN_NEEDED' };
    default:
      return { code: 'REQUEST_REFUSED', error: refusal.code, reason: formatRefusal(refusal) };
  }
}

/** The code of a refusal's cause, to be added to its sentence. Empty if it has no cause. */
export function pickCauseCode(refusal: Refusal): { readonly causeCode?: CauseCode } {
  return 'cause' in refusal && refusal.cause !== undefined ? { causeCode: refusal.cause.code } : {};
}

/** Masks secrets in a refusal's cause: it quotes upstream text, and the client may not know the config's secrets. */
export function maskRefusal(refusal: Refusal, mask: (text: string) => string): Refusal {
  return 'cause' in refusal && refusal.cause !== undefined
    ? { ...refusal, cause: mapTexts(refusal.cause, mask) }
    : refusal;
}

import { type Cause, type CauseCode, mapTexts } from './cause.ts';
import type { Refusal } from './refusal.ts';
import { sentenceOf } from './sentences.ts';

/** Why nothing comes of a server to which a request was refused so. */
export function causeOfRefusal(refusal: Refusal): Cause {
  switch (refusal.code) {
    case 'SERVER_UNAVAILABLE':
    case 'SERVER_ENDED':
    case 'SERVER_UNREACHED':
    case 'SERVER_BUSY':
      return refusal.cause;
    case 'SERVER_TIMEOUT':
      return { code: 'RESPONSE_TIMEOUT', limitMs: refusal.limitMs };
    case 'SERVER_MESSAGE_INVALID':
      return { code: 'RESPONSE_AMBIGUOUS', reason: refusal.reason };
    case 'AUTHORIZATION_NEEDED':
      return { ...refusal, code: 'SIGN_IN_NEEDED' };
    default:
      return { code: 'REQUEST_REFUSED', error: refusal.code, reason: sentenceOf(refusal) };
  }
}

/** What is told of a cause beside the sentence of a refusal: nothing where it has none. */
export function causeCodeIn(refusal: Refusal): { readonly causeCode?: CauseCode } {
  return 'cause' in refusal && refusal.cause !== undefined ? { causeCode: refusal.cause.code } : {};
}

/** A cause quotes what a peer wrote; the client that reads it need not know the secrets of the config. */
export function maskedRefusal(refusal: Refusal, mask: (text: string) => string): Refusal {
  return 'cause' in refusal && refusal.cause !== undefined
    ? { ...refusal, cause: mapTexts(refusal.cause, mask) }
    : refusal;
}

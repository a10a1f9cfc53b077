import type { Refusal } from '../../core/refusal.ts';
import { Unfetched } from '@assay-mcp/kit/platform/careful-fetch';
import type { OpenRedirect } from '@assay-mcp/kit/platform/redirect';
import { quote } from '@assay-mcp/kit/printable';
import { truncateText } from '@assay-mcp/kit/shorten';

/** Why a sign-in failed, as a phrase without secrets. */
export class SignInFault extends Error {}

export interface AnswerSources {
  readonly redirect: OpenRedirect;
  readonly pasted: (signal: AbortSignal) => Promise<string | undefined>;
  readonly state: string;
  readonly signal: AbortSignal;
}

/** The issuer's response, from the browser redirect or pasted by the user, whichever comes first. */
export async function waitForAnswer({
  redirect,
  pasted,
  state,
  signal,
}: AnswerSources): Promise<URLSearchParams> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const late = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => late.reject(new SignInFault('it was waited for long enough')));
  if (signal.aborted) throw new SignInFault('it was waited for long enough');
  // Without a pasted response, the browser may still deliver one.
  const byHand = pasted(ended).then((text) =>
    text === undefined ? late.promise : parsePastedAnswer(text, state),
  );
  byHand.catch(() => undefined);
  try {
    return await Promise.race([redirect.answer, byHand, late.promise]);
  } finally {
    over.abort();
  }
}

/** Accepts the whole URL, its query, or the bare code, which is bound to this sign-in by PKCE (RFC 7636). */
export function parsePastedAnswer(text: string, state: string): URLSearchParams {
  const trimmed = text.trim();
  const query = URL.parse(trimmed)?.searchParams ?? new URLSearchParams(trimmed.replace(/^\?/, ''));
  const isAnswer = query.has('code') || query.has('error');
  if (!isAnswer) {
    if (/^[\x21-\x7e]+$/.test(trimmed) && !trimmed.includes('://'))
      return new URLSearchParams({ code: trimmed });
    throw new SignInFault('the pasted text is neither the final address of the browser nor a code');
  }
  if (query.get('state') !== state)
    throw new SignInFault('the pasted text belongs to a different sign-in (its "state" differs)');
  return query;
}

/** The refusal to show. Unexpected errors are rethrown. */
export async function toSignInRefusal(error: unknown, server: string, isLate: boolean): Promise<Refusal> {
  const reason = isLate ? 'the sign-in was not completed in time' : await toFaultReason(error);
  return { code: 'AUTHORIZATION_FAILED', server, reason };
}

/** Why a sign-in failed, as a phrase without secrets. Unexpected errors are rethrown. */
export async function toFaultReason(error: unknown): Promise<string> {
  if (error instanceof SignInFault || error instanceof Unfetched) return error.message;
  const sdk = await import('@modelcontextprotocol/client');
  if (error instanceof sdk.IssuerMismatchError)
    return `the answer comes from ${JSON.stringify(error.received ?? 'nobody')}, and ${JSON.stringify(error.expected)} was asked`;
  if (error instanceof sdk.OAuthError) {
    // Without an error code, the message holds the whole body.
    const about = error.code === 'server_error' ? '' : ` (${quote(truncateText(error.message, 200))})`;
    return `the issuer answered ${quote(truncateText(error.code, 100))}${about}`;
  }
  if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_URL')
    return 'the server or its issuer gives an address that is none';
  if (!(error instanceof Error) || error instanceof ReferenceError || error instanceof TypeError) throw error;
  if (error.name === 'ZodError' || error instanceof SyntaxError)
    return 'its authorization metadata or a token does not follow the standards';
  return truncateText(error.message, 200);
}

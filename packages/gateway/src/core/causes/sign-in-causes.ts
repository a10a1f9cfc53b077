import { quote } from '@assay-mcp/kit/printable';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { LOCAL_USER } from '../subject.ts';
import type { CauseTable } from './cause-row.ts';
/** Causes of signing in to a server. */
export type SignInCause =
  | { readonly code: 'SIGN_IN_EXPIRED' }
  | { readonly code: 'SIGN_IN_UNREADABLE' }
  | { readonly code: 'SIGN_IN_ELSEWHERE' }
  | { readonly code: 'SCOPE_INSUFFICIENT'; readonly scopes: readonly string[] }
  | { readonly code: 'TOKEN_REFUSED' }
  | { readonly code: 'TOKEN_EXPIRED' }
  | { readonly code: 'TOKEN_INVALID' }
  | { readonly code: 'RENEWAL_REFUSED'; readonly error: string }
  | { readonly code: 'CLIENT_CREDENTIALS_REFUSED'; readonly reason: string }
  | (Renewal & { readonly code: 'AUTHORIZATION_SERVER_UNREACHABLE'; readonly reason: string })
  | (Renewal & { readonly code: 'TOKEN_RESPONSE_INVALID' })
  | (Renewal & { readonly code: 'RENEWAL_FAILED'; readonly error: string })
  | (Renewal & { readonly code: 'RENEWAL_LOCKED' });

/** A token renewal that failed for now and may succeed later. */
interface Renewal {
  readonly server: string;
  readonly subject: string;
}

export const SIGN_IN =
  'Run that command and sign in; a running `assay serve` then uses the new sign-in automatically.';
const SIGN_IN_LATER = 'Try again later. If that does not help, run that command and sign in again.';

export const SIGN_IN_CAUSES: CauseTable<SignInCause> = {
  SIGN_IN_EXPIRED: {
    recovery: 'sign_in',
    text: () => 'the last sign-in has expired',
    remedy: SIGN_IN,
  },
  SIGN_IN_UNREADABLE: {
    recovery: 'sign_in',
    text: () => 'the last sign-in was stored with a different encryption key',
    remedy: SIGN_IN,
  },
  SIGN_IN_ELSEWHERE: {
    recovery: 'sign_in',
    text: () => 'the last sign-in used a different authorization server from the one in its config entry',
    remedy: SIGN_IN,
  },
  SCOPE_INSUFFICIENT: {
    recovery: 'sign_in',
    text: ({ scopes }) =>
      `the sign-in lacks scopes that it requires: ${scopes.map(quote).join(', ') || 'it does not name them'}`,
    remedy: SIGN_IN,
  },
  TOKEN_REFUSED: {
    recovery: 'sign_in',
    text: () => 'it rejected a newly issued access token',
    remedy: SIGN_IN,
  },
  TOKEN_EXPIRED: {
    recovery: 'sign_in',
    text: () => 'its access token has expired, and there is no refresh token',
    remedy: SIGN_IN,
  },
  TOKEN_INVALID: {
    recovery: 'sign_in',
    text: () => 'its authorization server issued an access token that is not valid in a header',
    remedy: SIGN_IN,
  },
  RENEWAL_REFUSED: {
    recovery: 'sign_in',
    text: ({ error }) => `its authorization server refused to renew the sign-in: ${quote(error)}`,
    remedy: SIGN_IN,
  },
  CLIENT_CREDENTIALS_REFUSED: {
    recovery: 'time',
    text: ({ reason }) => `Assay has no usable token from its client credentials: ${reason}`,
    remedy:
      'Check "auth" in its config entry, and the registration and scopes of the client at the authorization server.',
  },
  AUTHORIZATION_SERVER_UNREACHABLE: {
    recovery: 'time',
    text: (cause) => `its authorization server ${cause.reason}; ${untilSignIn(cause)}`,
    remedy: SIGN_IN_LATER,
  },
  TOKEN_RESPONSE_INVALID: {
    recovery: 'time',
    text: (cause) => `its authorization server gave no valid token response; ${untilSignIn(cause)}`,
    remedy: SIGN_IN_LATER,
  },
  RENEWAL_FAILED: {
    recovery: 'time',
    text: (cause) => `its authorization server answered ${quote(cause.error)}; ${untilSignIn(cause)}`,
    remedy: SIGN_IN_LATER,
  },
  RENEWAL_LOCKED: {
    recovery: 'time',
    text: (cause) => `another process has been renewing its sign-in for too long; ${untilSignIn(cause)}`,
    remedy: SIGN_IN_LATER,
  },
};

function untilSignIn({ server, subject }: { readonly server: string; readonly subject: string }): string {
  return `if that lasts, run ${signInCommand(server, subject)}`;
}

/** The command with which a subject signs in to a server. */
export function signInCommand(server: string, subject: string): string {
  const who = subject === LOCAL_USER.subject ? '' : ` --subject ${quoteShellArgument(subject)}`;
  return `\`assay auth ${quoteShellArgument(server)}${who}\``;
}

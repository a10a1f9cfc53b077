import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { ServerSpec } from '../../core/server-spec.ts';

/** Why a server refused a request: the credentials were invalid or missing, or allowed too little. */
export type Challenge =
  | { readonly kind: 'invalid' }
  /** Valid credentials with insufficient scope. */
  | { readonly kind: 'too_little'; readonly scope: string | undefined };

/** Authorizes requests to one server on behalf of one subject. On the hot path: used by every call. */
export interface Authorizer {
  /** Owner of the credentials. */
  readonly subject: string;
  /** The Authorization header, read synchronously from memory. Undefined if the subject has not signed in. */
  header(): string | undefined;
  /**
   * Reports a refused request with the header that was sent. Resolves when the request can be retried. Errors:
   * AUTHORIZATION_NEEDED, or SERVER_UNAVAILABLE if the authorization server cannot be reached.
   */
  refused(challenge: Challenge, sent: string | undefined): Promise<Result<'again', Refusal>>;
}

/** Live view of sign-ins at remote servers. The opener closes it. */
export interface Credentials {
  /**
   * Resolves once stored credentials are in memory. Undefined if the config already says what to send, so no sign-in is
   * needed.
   */
  authorizer(spec: ServerSpec, subject: string): Promise<Authorizer | undefined>;
  /** Whether each subject needs its own credentials there, so links must not be shared between subjects. */
  isPersonal(spec: ServerSpec): boolean;
  /** Calls back with a server's name when new credentials for it arrive. Returns a function that unsubscribes. */
  onNews(listener: (server: string) => void): () => void;
  close(): Promise<void>;
}

/** A sign-in without secrets, safe to display. */
export interface ShownCredential {
  readonly server: string;
  readonly issuer: string;
  readonly subject: string;
  /**
   * `foreign`: for a different server that had this name. `locked`: encrypted with another key. `ended`: revoked by the
   * issuer.
   */
  readonly state: 'valid' | 'renewable' | 'expired' | 'ended' | 'locked' | 'foreign';
  readonly scope: string | undefined;
  /** When the access token expires. */
  readonly expiresMs: number | undefined;
}

/** A sign-in, and what the flow needs from the person at the terminal. */
export interface SignInRequest {
  readonly server: string;
  readonly subject: string;
  readonly opensBrowser: boolean;
  /** Called once with the address to visit and its issuer. */
  readonly onAddress: (address: string, issuer: string, isOpened: boolean) => void;
  /**
   * Resolves with a pasted line: the address where the browser ended up, or the code in it. Undefined if none will
   * come.
   */
  readonly pasted: (signal: AbortSignal) => Promise<string | undefined>;
  readonly limitMs: number;
}

export interface SignOutReport {
  readonly forgotten: readonly ShownCredential[];
  /** Whether the issuer accepted the revocation. False if it offers none or did not answer. */
  readonly isRevoked: boolean;
}

import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../core/server-spec.ts';

/** Why a server refused a request: the credentials were invalid or missing, or allowed too little. */
export interface Challenge {
  /** `too_little`: valid credentials with insufficient scope. */
  readonly kind: 'invalid' | 'too_little';
  readonly scope: string | undefined;
  /** Where its metadata is, if it says so. */
  readonly resourceMetadata: URL | undefined;
}

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
  /** Whether a line can be pasted. */
  readonly acceptsPasted: boolean;
  /**
   * Resolves with a pasted line: the address where the browser ended up, or the code in it. Undefined if none will
   * come.
   */
  readonly pasted: (signal: AbortSignal) => Promise<string | undefined>;
  readonly limitMs: number;
  /** Called with each step, as it is done. */
  readonly onStep?: ((step: SignInStep) => void) | undefined;
}

/** What a sign-in asked of whom, and what came back. It holds no secrets, but text of peers. */
export interface SignInStep {
  /** Of HTTP, or BROWSER (where the browser is sent) or CALLBACK (what it brought back). */
  readonly method: string;
  /** Without its query. */
  readonly url: string;
  /** The parameters of the query and the body. */
  readonly sent: Readonly<Record<string, string>>;
  readonly status?: number;
  /** The content type of the response. */
  readonly type?: string;
  /** Its WWW-Authenticate header. */
  readonly challenge?: string;
  readonly location?: string;
  /** The beginning of its body. */
  readonly received?: string;
  /** Why there is no response. */
  readonly fault?: string;
}

export interface SignOutReport {
  readonly forgotten: readonly ShownCredential[];
  /** Whether the issuer accepted the revocation. False if it offers none or did not answer. */
  readonly isRevoked: boolean;
}

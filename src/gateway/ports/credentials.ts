import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { ServerSpec } from '../../core/server-spec.ts';

/** Why a server refused a request for the credentials that came with it, or for want of any. */
export type Challenge =
  | { readonly kind: 'invalid' }
  /** They are good, but allow too little. */
  | { readonly kind: 'too little'; readonly scope: string | undefined };

/** Authorizes requests to one server in the name of one subject. It stands on the path of every call. */
export interface Authorizer {
  /** Whose credentials they are. */
  readonly subject: string;
  /** The Authorization header as it is in memory, at once; undefined: nobody has signed in. */
  header(): string | undefined;
  /**
   * To be told of a refused request, with the header that was sent; resolves when it can be sent again. Else
   * AUTHORIZATION_NEEDED, or SERVER_UNAVAILABLE where the authorization server cannot be asked now.
   */
  refused(challenge: Challenge, sent: string | undefined): Promise<Result<'again', Refusal>>;
}

/** What is known of sign-ins at remote servers, as it changes. Whoever opens it closes it. */
export interface Credentials {
  /** Resolves when what is stored is in memory. Undefined where nobody is to sign in: the config says what to send. */
  authorizer(spec: ServerSpec, subject: string): Promise<Authorizer | undefined>;
  /** Whether each subject needs credentials of its own there, so that a link of one must not serve another. */
  isPersonal(spec: ServerSpec): boolean;
  /** Told of a server, by name, for which somebody's credentials have come. The returned function ends it. */
  onNews(listener: (server: string) => void): () => void;
  close(): Promise<void>;
}

/** A sign-in as it may be shown: nothing in it is secret. */
export interface ShownCredential {
  readonly server: string;
  readonly issuer: string;
  readonly subject: string;
  /** `foreign`: for another server that had this name. `locked`: another key encrypted it. `ended`: the issuer took it back. */
  readonly state: 'valid' | 'renewable' | 'expired' | 'ended' | 'locked' | 'foreign';
  readonly scope: string | undefined;
  /** When the access token ends. */
  readonly expiresMs: number | undefined;
}

/** How somebody signs in: what the flow needs of the one who sits there. */
export interface SignInRequest {
  readonly server: string;
  readonly subject: string;
  readonly opensBrowser: boolean;
  /** Told once where to go, and at which issuer that is. */
  readonly onAddress: (address: string, issuer: string, isOpened: boolean) => void;
  /** A line that somebody pastes: the address at which the browser ended, or the code in it; undefined: nobody will. */
  readonly pasted: (signal: AbortSignal) => Promise<string | undefined>;
  readonly limitMs: number;
}

export interface SignOutReport {
  readonly forgotten: readonly ShownCredential[];
  /** Whether the issuer was told, and took it; false: it offers no revocation, or did not answer. */
  readonly isRevoked: boolean;
}

import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Identity, Scope } from '../../core/subject.ts';

/** The means of signing in: the code of a sign-in link, or a token of Assay. */
export type SignInProof = { readonly code: string } | { readonly token: string };

export interface OpenedPageSession {
  /** The value of the cookie, available only here. */
  readonly text: string;
  readonly identity: Identity;
}

/** The session of a browser that is signed in. */
export interface PageSession {
  readonly id: string;
  readonly subject: string;
  readonly scopes: readonly Scope[];
  readonly openedBy: 'link' | 'token';
  readonly createdMs: number;
  /** Time of last use, accurate to ten minutes. */
  readonly usedMs: number;
}

/** The browser sessions of the admin pages. */
export interface PageSessions {
  /** The identity of a session, by its cookie. TOKEN_REQUIRED if it has ended or never existed. */
  admit(text: string): Promise<Result<Identity, Refusal>>;
  /** Errors: LINK_UNUSABLE, TOKEN_REQUIRED, SCOPE_MISSING, TOO_MANY_FAILURES. */
  open(proof: SignInProof, address: string): Promise<Result<OpenedPageSession, Refusal>>;
  /** The open sessions, last used first. */
  list(): Promise<readonly PageSession[]>;
  /**
   * Ends the session of the identity, all sessions of the credential that opened it, or another one. Does nothing if it
   * has already ended.
   */
  end(
    identity: Identity,
    which: 'this' | 'all' | { readonly id: string },
  ): Promise<Result<undefined, Refusal>>;
}

import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { Identity, Scope } from '../../core/subject.ts';

/** What a person signs in with: the code of a sign-in link, or a token of Assay. */
export type SignInProof = { readonly code: string } | { readonly token: string };

export interface OpenedPageSession {
  /** The value of the cookie, available only here. */
  readonly text: string;
  readonly identity: Identity;
}

/** A browser that is signed in. */
export interface PageSession {
  readonly id: string;
  readonly subject: string;
  readonly scopes: readonly Scope[];
  readonly openedBy: 'link' | 'token';
  readonly createdMs: number;
  /** To ten minutes. */
  readonly usedMs: number;
}

/** The sessions of browsers at the admin pages. */
export interface PageSessions {
  /** Whose session it is. TOKEN_REQUIRED if it has ended or never was. */
  admit(text: string): Promise<Result<Identity, Refusal>>;
  /** LINK_UNUSABLE, TOKEN_REQUIRED, SCOPE_MISSING, TOO_MANY_FAILURES */
  open(proof: SignInProof, address: string): Promise<Result<OpenedPageSession, Refusal>>;
  /** Those that are open, last used first. */
  list(): Promise<readonly PageSession[]>;
  /**
   * Ends the session of the identity, all sessions of the credential that opened it, or another one. Nothing happens
   * if it has ended.
   */
  end(
    identity: Identity,
    which: 'this' | 'all' | { readonly id: string },
  ): Promise<Result<undefined, Refusal>>;
}

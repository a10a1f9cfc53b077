import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { Identity } from '../../core/subject.ts';

/** What a person signs in with: the code of a sign-in link, or a token of Assay. */
export type SignInProof = { readonly code: string } | { readonly token: string };

export interface OpenedPageSession {
  /** The value of the cookie, available only here. */
  readonly text: string;
  readonly identity: Identity;
}

/** The sessions of browsers at the admin pages. */
export interface PageSessions {
  /** Whose session it is. TOKEN_REQUIRED if it has ended or never was. */
  admit(text: string): Promise<Result<Identity, Refusal>>;
  /** LINK_UNUSABLE, TOKEN_REQUIRED, SCOPE_MISSING, TOO_MANY_FAILURES */
  open(proof: SignInProof, address: string): Promise<Result<OpenedPageSession, Refusal>>;
  /** Ends the session, or all sessions of the credential that opened it. */
  end(identity: Identity, which: 'this' | 'all'): Promise<Result<undefined, Refusal>>;
}

/** What somebody may do. `admin` includes `read` and `mcp`; nothing includes `execute`. */
export type Scope = 'admin' | 'execute' | 'read' | 'mcp';

export const SCOPES: readonly Scope[] = ['admin', 'execute', 'read', 'mcp'];

/** Who asks, as far as Assay knows: the subject of all that is done, and what it may do. */
export interface Identity {
  readonly subject: string;
  readonly scopes: readonly Scope[];
  /** The token of Assay's own that was brought. Tokens of an issuer are short-lived and renewed, so their holder is the subject. */
  readonly tokenId?: string;
  /** The paths that are opened, each with all below it; undefined: all. */
  readonly within?: readonly string[];
}

/** By which right something that lasts was opened: it ends with that. */
export type Holder = Pick<Identity, 'subject' | 'tokenId'>;

/** Whether two rights are one: another token of the same name is another right. */
export function isSameHolder(one: Holder, other: Holder): boolean {
  return one.subject === other.subject && one.tokenId === other.tokenId;
}

/** Whoever comes without a token where none is needed: over stdio, on the command line, at an open door. */
export const LOCAL: Identity = { subject: 'local', scopes: ['mcp', 'read'] };

/** Who holds the token of the environment. */
export const OPERATOR: Identity = { subject: 'operator', scopes: SCOPES };

/**
 * Who holds a token of this issuer. An issuer has no fragment, so no two holders share a subject; and no name of a token
 * of ours begins as a URL does.
 */
export function issuedSubject(issuer: string, sub: string): string {
  return `${issuer}#${sub}`;
}

/** Whether only a token of an issuer may have this subject. */
export function isIssued(subject: string): boolean {
  return /^https?:/i.test(subject);
}

export function allows({ scopes }: Identity, scope: Scope): boolean {
  return scopes.includes(scope) || (scope !== 'execute' && scopes.includes('admin'));
}

/** A permission. `admin` includes `read` and `mcp`; nothing includes `execute`. */
export type Scope = 'admin' | 'execute' | 'read' | 'mcp';

export const SCOPES: readonly Scope[] = ['admin', 'execute', 'read', 'mcp'];

/** The authenticated caller: its subject and permissions. */
export interface Identity {
  readonly subject: string;
  readonly scopes: readonly Scope[];
  /** Id of the Assay token used. Absent for an issuer's tokens: they are short-lived, so only the subject matters. */
  readonly tokenId?: string;
  /** Id of the browser session used at the admin pages. */
  readonly sessionId?: string;
  /** Paths that are allowed, including everything below them. Undefined if unrestricted. */
  readonly within?: readonly string[];
}

/** The credential under which something long-lived was opened; it ends when the credential does. */
export type Holder = Pick<Identity, 'subject' | 'tokenId' | 'sessionId'>;

/** Whether both are the same credential: another token of the same name is not. */
export function isSameHolder(one: Holder, other: Holder): boolean {
  return one.subject === other.subject && one.tokenId === other.tokenId && one.sessionId === other.sessionId;
}

/** A caller without a token where none is needed: stdio, the command line, or open access. */
export const LOCAL_USER: Identity = { subject: 'local', scopes: ['mcp', 'read'] };

/** The user who runs Assay, at the socket of the home or at the command line: may do everything. */
export const LOCAL_OPERATOR: Identity = { subject: LOCAL_USER.subject, scopes: SCOPES };

/** The holder of the token in the environment. */
export const OPERATOR: Identity = { subject: 'operator', scopes: SCOPES };

/**
 * The subject for a token of an issuer. Issuers have no fragment, so subjects are unique; and the name of an Assay
 * token never starts like a URL.
 */
export function toIssuedSubject(issuer: string, sub: string): string {
  return `${issuer}#${sub}`;
}

/** Whether the subject belongs to an issuer's token. */
export function isIssued(subject: string): boolean {
  return /^https?:/i.test(subject);
}

export function allows({ scopes }: Identity, scope: Scope): boolean {
  return scopes.includes(scope) || (scope !== 'execute' && scopes.includes('admin'));
}

export type ApprovalScope = 'once' | 'session' | 'server' | 'always';

/** A call that waits for approval, or the answer to it. Texts from servers and clients are as sent. */
export interface Approval {
  readonly id: string;
  readonly state: 'pending' | 'approved' | 'denied' | 'used' | 'revoked' | 'expired' | 'unreadable';
  readonly tool: string;
  readonly namespacedName: string;
  readonly title?: string;
  /** Empty for tools of Assay itself. */
  readonly server: string;
  readonly subject: string;
  /** JSON text. */
  readonly client?: string;
  /** JSON text. */
  readonly arguments: string;
  readonly isShortened?: boolean;
  readonly isMasked?: boolean;
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
  readonly warnings: readonly string[];
  readonly hints: readonly { readonly hint: string; readonly value: boolean; readonly reason: string }[];
  /** The scopes to choose from. */
  readonly scopes: readonly ApprovalScope[];
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly answeredAt?: string;
  readonly answeredBy?: string;
  readonly scope?: ApprovalScope;
  readonly reason?: string;
}

export interface ApprovalPage {
  readonly approvals: readonly Approval[];
  readonly nextCursor?: string;
}

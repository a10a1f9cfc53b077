export type TokenScope = 'admin' | 'execute' | 'read' | 'mcp';

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly state: 'valid' | 'expired' | 'revoked' | 'unreadable';
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** `token` is available only here. */
export interface NewToken extends Token {
  readonly token: string;
}

export interface TokenPage {
  readonly tokens: readonly Token[];
  readonly nextCursor?: string;
}

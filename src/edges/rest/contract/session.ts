/** Who is signed in at the admin pages. */
export interface SessionView {
  readonly subject: string;
  readonly scopes: readonly ('admin' | 'execute' | 'read' | 'mcp')[];
}

/** A browser that is signed in at the admin pages. */
export interface SignedInBrowser extends SessionView {
  readonly id: string;
  readonly openedBy: 'link' | 'token';
  readonly createdAt: string;
  /** To ten minutes. */
  readonly usedAt: string;
  /** Whether it is the one that asks. */
  readonly isCurrent: boolean;
}

export interface SignedInBrowsers {
  readonly sessions: readonly SignedInBrowser[];
}

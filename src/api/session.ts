/** The signed-in user of the admin pages. */
export interface SessionView {
  readonly subject: string;
  readonly scopes: readonly ('admin' | 'execute' | 'read' | 'mcp')[];
}

/** A browser that is signed in to the admin pages. */
export interface SignedInBrowser extends SessionView {
  readonly id: string;
  readonly openedBy: 'link' | 'token';
  readonly createdAt: string;
  /** Time of last use, accurate to ten minutes. */
  readonly usedAt: string;
  /** Whether it is the browser that sent this request. */
  readonly isCurrent: boolean;
}

export interface SignedInBrowsers {
  readonly sessions: readonly SignedInBrowser[];
}

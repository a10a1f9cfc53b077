/** Who is signed in at the admin pages. */
export interface SessionView {
  readonly subject: string;
  readonly scopes: readonly ('admin' | 'execute' | 'read' | 'mcp')[];
}

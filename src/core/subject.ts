/** What somebody may do. `admin` includes `read` and `mcp`; nothing includes `execute`. */
export type Scope = 'admin' | 'execute' | 'read' | 'mcp';

export const SCOPES: readonly Scope[] = ['admin', 'execute', 'read', 'mcp'];

/** Who asks, as far as Assay knows: the subject of all that is done, and what it may do. */
export interface Identity {
  readonly subject: string;
  readonly scopes: readonly Scope[];
}

/** Whoever comes without a token where none is needed: over stdio, on the command line, at an open door. */
export const LOCAL: Identity = { subject: 'local', scopes: ['mcp', 'read'] };

/** Who holds the token of the environment. */
export const OPERATOR: Identity = { subject: 'operator', scopes: SCOPES };

export function allows({ scopes }: Identity, scope: Scope): boolean {
  return scopes.includes(scope) || (scope !== 'execute' && scopes.includes('admin'));
}

import type { Refusal } from './refusal.ts';

/**
 * The WWW-Authenticate header of a refusal for want of a token or of a scope (RFC 6750, section 3). A client that brought
 * nothing is told nothing of errors.
 */
export function challengeOf(
  what: Extract<Refusal, { code: 'TOKEN_REQUIRED' | 'SCOPE_MISSING' }>,
  brought: string | undefined,
): string {
  if (what.code === 'SCOPE_MISSING') return `Bearer error="insufficient_scope", scope="${what.scope}"`;
  return brought === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
}

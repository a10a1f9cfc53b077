import type { Protection } from './protected-resource.ts';
import type { Refusal } from './refusal.ts';

/** A refused request. */
export interface Challenged {
  readonly authorization: string | undefined;
  /** Undefined if no issuer is configured. */
  readonly protection?: Protection | undefined;
}

/**
 * The WWW-Authenticate header for a missing token or scope (RFC 6750, section 3; RFC 9728, section 5.1). If the request
 * had no credentials, no error code is included.
 */
export function formatChallenge(
  what: Extract<Refusal, { code: 'TOKEN_REQUIRED' | 'SCOPE_MISSING' }>,
  { authorization, protection }: Challenged,
): string {
  const isLacking = what.code === 'SCOPE_MISSING';
  const scope = isLacking ? what.scope : protection?.scope;
  const isWrong = !isLacking && authorization !== undefined;
  const parameters = [
    ...(isLacking ? [['error', 'insufficient_scope']] : []),
    ...(isWrong ? [['error', 'invalid_token']] : []),
    ...(isWrong && what.reason !== undefined ? [['error_description', what.reason]] : []),
    ...(isLacking && protection !== undefined ? [['error_description', lacking(what.scope)]] : []),
    ...(scope === undefined ? [] : [['scope', scope]]),
    ...(protection === undefined ? [] : [['resource_metadata', protection.metadataUrl]]),
  ].map(([name, value]) => `${name}="${value}"`);
  return ['Bearer', parameters.join(', ')].filter((part) => part !== '').join(' ');
}

function lacking(scope: string): string {
  return `the token lacks the scope ${scope}, which its issuer may also call assay:${scope}`;
}

/** Whether a refusal concerns the caller's credentials rather than the origin or content of the request. */
export function isAboutTokens({ code }: Refusal): boolean {
  return code === 'TOKEN_REQUIRED' || code === 'TOO_MANY_FAILURES' || code === 'ISSUER_UNAVAILABLE';
}

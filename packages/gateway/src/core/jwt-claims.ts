import { toPrintable } from '@assay-mcp/kit/printable';
import { listGrantedPaths, type ProtectedResource } from './protected-resource.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { toIssuedSubject, SCOPES, type Identity, type Scope } from './subject.ts';

/** Header and claims of a token whose signature and times are verified. */
export interface CheckedJwt {
  readonly type: unknown;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The identity a token grants, and its expiry. */
export interface Grant {
  readonly identity: Identity;
  readonly expiresMs: number;
}

/** OpenID Connect Core, section 2, limits `sub` to 255 characters. */
const MAX_SUB_LENGTH = 255;

/** Access tokens per RFC 9068, and plain JWTs. Other types that an issuer signs are rejected. */
const TYPES: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt', 'application/jwt']);

/** The identity and access that a token grants. The error is a phrase about the token, in ASCII without quotes. */
export function readGrant({ type, claims }: CheckedJwt, resource: ProtectedResource): Result<Grant, string> {
  const { sub, exp, aud, cnf } = claims;
  if (type !== undefined && !(typeof type === 'string' && TYPES.has(type.toLowerCase())))
    return err('its typ is not that of an access token');
  // Assay does not verify proof of possession, so anyone who found the token could use it (RFC 9449, section 7.1).
  if (cnf !== undefined) return err('it is bound to a key, which is not checked here');
  if (typeof exp !== 'number') return err('it has no exp');
  if (typeof sub !== 'string' || sub === '') return err('it has no sub');
  if (sub.length > MAX_SUB_LENGTH || toPrintable(sub) !== sub) return err('its sub cannot name anybody');
  const within = listGrantedPaths(textsOf(aud), resource);
  if (within.length === 0) return err('its aud is not this resource');
  const scopes = scopesIn([...wordsOf(claims['scope']), ...wordsOf(claims['scp'])]);
  return ok({
    identity: { subject: toIssuedSubject(resource.issuer, sub), scopes, within },
    expiresMs: exp * 1_000,
  });
}

/** `mcp`, or `assay:mcp` for issuers that serve several resources. Other scopes are ignored. */
function scopesIn(words: readonly string[]): readonly Scope[] {
  return SCOPES.filter((scope) => words.includes(scope) || words.includes(`assay:${scope}`));
}

/** A single string per RFC 9068, section 2.2.3; some issuers write a list. */
function wordsOf(claim: unknown): readonly string[] {
  return textsOf(claim).flatMap((text) => text.split(' '));
}

function textsOf(claim: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return list.filter((one) => typeof one === 'string');
}

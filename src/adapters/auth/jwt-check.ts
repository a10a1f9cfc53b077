import type { JWTVerifyGetKey } from 'jose';
import { grantOf, type Grant } from '../../core/jwt-claims.ts';
import type { ProtectedResource } from '../../core/protected-resource.ts';
import { KeysUnavailable } from './issuer-keys.ts';

/** The result of checking a token. Reasons are phrases about the token. */
export type JwtVerdict =
  | { readonly kind: 'granted'; readonly grant: Grant }
  /** `isSigned`: the signature is valid, so the token was not guessed. */
  | { readonly kind: 'refused'; readonly reason: string; readonly isSigned: boolean }
  /** The token could not be checked. */
  | { readonly kind: 'unknown'; readonly cause: string };

export type CheckJwt = (text: string, nowMs: number) => Promise<JwtVerdict>;

/** No symmetric algorithms and never `none`: whoever can verify a token must not be able to create one. */
const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Tolerated difference between the clocks of the issuer and Assay, in seconds. */
const TOLERANCE_S = 10;

/** jose checks signature, algorithm, issuer and times; the core maps claims to a grant (RFC 9068, section 4). */
export async function openJwtCheck(keys: JWTVerifyGetKey, resource: ProtectedResource): Promise<CheckJwt> {
  const { decodeJwt, decodeProtectedHeader, errors, jwtVerify } = await import('jose');
  const { issuer } = resource;

  /** Checked before a key is fetched, so that foreign tokens cause no request to the issuer. */
  const faultOf = (text: string): string | undefined => {
    try {
      const { alg } = decodeProtectedHeader(text);
      if (alg === undefined || !ALGORITHMS.includes(alg)) return 'its algorithm is not taken';
      return decodeJwt(text).iss === issuer ? undefined : 'its iss is a different issuer';
    } catch {
      return 'it is not a JSON Web Token';
    }
  };

  const refusalOf = (error: unknown): JwtVerdict => {
    if (error instanceof KeysUnavailable) return { kind: 'unknown', cause: error.message };
    if (error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout)
      return { kind: 'unknown', cause: 'returned something that is not a key set' };
    if (error instanceof errors.JWTExpired)
      return { kind: 'refused', reason: 'it has expired', isSigned: true };
    if (error instanceof errors.JWTClaimValidationFailed) {
      const reason = error.claim === 'nbf' ? 'it is not valid yet' : `its ${error.claim} is not valid`;
      return { kind: 'refused', reason, isSigned: true };
    }
    if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
      return { kind: 'refused', reason: 'its kid names no key of its issuer', isSigned: false };
    if (error instanceof errors.JOSEError)
      return { kind: 'refused', reason: 'its signature is not valid', isSigned: false };
    throw error;
  };

  return async (text, nowMs) => {
    const fault = faultOf(text);
    if (fault !== undefined) return { kind: 'refused', reason: fault, isSigned: false };
    try {
      const { payload, protectedHeader } = await jwtVerify(text, keys, {
        issuer,
        algorithms: [...ALGORITHMS],
        requiredClaims: ['exp'],
        clockTolerance: TOLERANCE_S,
        currentDate: new Date(nowMs),
      });
      const grant = grantOf({ type: protectedHeader.typ, claims: payload }, resource);
      return grant.ok
        ? {
            kind: 'granted',
            grant: { ...grant.value, expiresMs: grant.value.expiresMs + TOLERANCE_S * 1_000 },
          }
        : { kind: 'refused', reason: grant.error, isSigned: true };
    } catch (error) {
      return refusalOf(error);
    }
  };
}

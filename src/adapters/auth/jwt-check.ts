import type { errors, JWTVerifyGetKey, JWTVerifyResult } from 'jose';
import { readGrant, type Grant } from '../../core/jwt-claims.ts';
import type { ProtectedResource } from '../../core/protected-resource.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { FairChecks } from './fair-checks.ts';
import { KeysUnavailable } from './issuer-keys.ts';

/** The result of checking a token. Reasons are phrases about the token. */
export type JwtVerdict =
  | { readonly kind: 'granted'; readonly grant: Grant }
  /** `isSigned`: the signature is valid, so the token was not guessed. */
  | { readonly kind: 'refused'; readonly reason: string; readonly isSigned: boolean }
  /** Too many checks were waiting. */
  | { readonly kind: 'busy' }
  /** The token could not be checked. */
  | { readonly kind: 'unknown'; readonly cause: string };

export type CheckJwt = (text: string, nowMs: number) => Promise<JwtVerdict>;

/** No turn was left to check a signature. */
class Busy extends Error {}

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
  const checks = new FairChecks();

  /** Checked before a key is fetched, so that foreign tokens cause no request to the issuer. Returns the claimed sub. */
  const readClaims = (text: string): Result<string, string> => {
    try {
      const { alg } = decodeProtectedHeader(text);
      if (alg === undefined || !ALGORITHMS.includes(alg)) return err('its algorithm is not taken');
      const { iss, sub } = decodeJwt(text);
      return iss === issuer ? ok(String(sub)) : err('its iss is a different issuer');
    } catch {
      return err('it is not a JSON Web Token');
    }
  };

  /** Waits for the keys first: a fetch must not hold up the checks of other tokens. */
  const verify = async (text: string, sub: string, nowMs: number): Promise<JWTVerifyResult> => {
    const turn = { isMine: false };
    const keyInTurn: JWTVerifyGetKey = async (header, token) => {
      const key = await keys(header, token);
      turn.isMine = await checks.begin(sub);
      if (!turn.isMine) throw new Busy();
      return key;
    };
    try {
      return await jwtVerify(text, keyInTurn, {
        issuer,
        algorithms: [...ALGORITHMS],
        requiredClaims: ['exp'],
        clockTolerance: TOLERANCE_S,
        currentDate: new Date(nowMs),
      });
    } finally {
      if (turn.isMine) checks.end();
    }
  };

  return async (text, nowMs) => {
    const claimed = readClaims(text);
    if (!claimed.ok) return { kind: 'refused', reason: claimed.error, isSigned: false };
    try {
      const { payload, protectedHeader } = await verify(text, claimed.value, nowMs);
      const grant = readGrant({ type: protectedHeader.typ, claims: payload }, resource);
      return grant.ok
        ? {
            kind: 'granted',
            grant: { ...grant.value, expiresMs: grant.value.expiresMs + TOLERANCE_S * 1_000 },
          }
        : { kind: 'refused', reason: grant.error, isSigned: true };
    } catch (error) {
      return refusalOf(error, errors);
    }
  };
}

type Errors = typeof errors;

function refusalOf(error: unknown, errors: Errors): JwtVerdict {
  if (error instanceof Busy) return { kind: 'busy' };
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
}

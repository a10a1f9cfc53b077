import type { errors, JWTVerifyGetKey, JWTVerifyResult } from 'jose';
import { readGrant, type Grant } from '../../core/jwt-claims.ts';
import type { ProtectedResource } from '../../core/protected-resource.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
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

/** Called with false if the check was dropped. */
type Turn = (isMine: boolean) => void;

/** Maximum number of waiting checks. */
const MAX_WAITING = 1_000;

/**
 * Checks signatures one after another, so that a flood of forged tokens takes at most one core. Sources take turns: a
 * source with few tokens does not wait for the many of another. If too many checks wait, the source with the most
 * loses its newest.
 */
export class FairChecks {
  readonly #maxWaiting: number;
  readonly #waiting = new Map<string, Turn[]>();
  #size = 0;
  #isBusy = false;

  constructor(maxWaiting: number = MAX_WAITING) {
    this.#maxWaiting = maxWaiting;
  }

  /** Waits for a turn; call `end` after it. False if too many checks wait. */
  begin(source: string): Promise<boolean> {
    if (!this.#isBusy) {
      this.#isBusy = true;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const same = this.#waiting.get(source);
      if (same === undefined) this.#waiting.set(source, [resolve]);
      else same.push(resolve);
      this.#size += 1;
      if (this.#size > this.#maxWaiting) this.#dropOne();
    });
  }

  /** Gives the turn to the source that has waited longest since its last one. */
  end(): void {
    const [next] = this.#waiting;
    this.#isBusy = next !== undefined;
    if (next === undefined) return;
    const [source, checks] = next;
    const check = checks.shift();
    this.#waiting.delete(source);
    if (checks.length > 0) this.#waiting.set(source, checks);
    this.#size -= 1;
    check?.(true);
  }

  /** The source with the most waiting checks loses its newest; among equals the one that came last. */
  #dropOne(): void {
    let most: readonly [string, Turn[]] | undefined;
    for (const entry of this.#waiting) if (entry[1].length >= (most?.[1].length ?? 0)) most = entry;
    if (most === undefined) return;
    const [source, checks] = most;
    const check = checks.pop();
    if (checks.length === 0) this.#waiting.delete(source);
    this.#size -= 1;
    check?.(false);
  }
}

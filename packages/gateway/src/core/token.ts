import { findNameFault } from './name-fault.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isIssued, LOCAL_USER, OPERATOR, SCOPES, type Scope } from './subject.ts';

/** Prefix of all tokens, so that leaked ones can be found by searching. */
const PREFIX = 'assay_';
const SHAPE = /^assay_([0-9a-f]{12})_([0-9A-Za-z]{43})$/;
const ID = /^[0-9a-f]{12}$/;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** The parts of a token: `id` is public and used for lookup, `secret` proves it. */
export interface TokenParts {
  /** 12 hexadecimal digits. */
  readonly id: string;
  /** 43 characters of base 62, encoding 256 bits. */
  readonly secret: string;
}

/** A new token: `text` is shown once, the rest is stored. */
export interface MintedToken {
  readonly text: string;
  readonly id: string;
  /** SHA-256 of the secret, in hexadecimal. */
  readonly hash: string;
}

export function formatToken({ id, secret }: TokenParts): string {
  return `${PREFIX}${id}_${secret}`;
}

/** Undefined unless it is a complete Assay token. */
export function parseToken(text: string): TokenParts | undefined {
  const [, id, secret] = SHAPE.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Whether a text is intended as an Assay token, complete or not. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** The credentials after `Bearer`; the scheme name is case-insensitive (RFC 9110, section 11.1). */
export function parseBearer(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(.+)$/i.exec(authorization)?.[1];
}

/** Whether a text has the format of a signed JSON Web Token (RFC 7515, section 3.1). */
export function looksLikeJwt(text: string): boolean {
  return JWT.test(text);
}

/** `unreadable`: another program changed its row in the store so that it cannot be read. */
export type TokenState = 'valid' | 'expired' | 'revoked' | 'unreadable';

/** A token is valid until just before its expiry time. */
export function getTokenState(
  token: {
    readonly expiresMs: number | undefined;
    readonly revokedMs: number | undefined;
    readonly isUnreadable?: true | undefined;
  },
  nowMs: number,
): TokenState {
  if (token.revokedMs !== undefined) return 'revoked';
  if (token.isUnreadable === true) return 'unreadable';
  return token.expiresMs !== undefined && token.expiresMs <= nowMs ? 'expired' : 'valid';
}

/**
 * A system clock that never goes back. If the system clock is set back, this one continues at the pace of the monotonic
 * clock, so that what has expired stays expired. Steps forward are followed. Both in ms; the result is a whole number.
 */
export function createSteadyClock(
  wallMs: () => number = () => Date.now(),
  monotonicMs: () => number = () => performance.now(),
): () => number {
  let lastMs = wallMs();
  let lastAtMs = monotonicMs();
  return () => {
    const atMs = monotonicMs();
    lastMs = Math.max(wallMs(), lastMs + atMs - lastAtMs);
    lastAtMs = atMs;
    return Math.floor(lastMs); // like the system clock: PostgreSQL columns take whole ms
  };
}

/** Why a token name is invalid, as the end of a sentence. */
export function findTokenNameFault(name: string): string | undefined {
  const fault = findNameFault(name);
  if (fault !== undefined) return fault;
  if (RESERVED.includes(lookOf(name)))
    return 'it reads like the subject of callers without a token, or of those with ASSAY_TOKEN; choose another one';
  if (isIssued(name)) return 'it must not be a URL: URLs are reserved for subjects of an issuer';
  // Tokens are revoked by name or id, and a token entered as a name by mistake would be visible in lists.
  if (ID.test(name) || looksLikeToken(name)) return 'it must not look like a token or its id';
  return undefined;
}

const RESERVED: readonly string[] = [LOCAL_USER.subject, OPERATOR.subject].map(lookOf);

/** Equal for names that differ only in case, or in characters that many fonts draw alike. */
function lookOf(name: string): string {
  return name.toLowerCase().replaceAll('0', 'o').replaceAll(/[1i]/g, 'l');
}

/** Parses scopes in the form `mcp,read`. The error is the end of a sentence. */
export function parseScopes(text: string): Result<readonly Scope[], string> {
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !SCOPES.some((scope) => scope === name));
  return wrong === undefined
    ? ok(SCOPES.filter((scope) => names.includes(scope)))
    : err(`there is no scope ${JSON.stringify(wrong)}; there are ${SCOPES.join(', ')}`);
}

const MINUTE_MS = 60_000;
const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['m', MINUTE_MS],
  ['h', 60 * MINUTE_MS],
  ['d', 24 * 60 * MINUTE_MS],
  ['w', 7 * 24 * 60 * MINUTE_MS],
]);

/** Parses a token lifetime such as `90m`, `12h`, `30d` or `4w` into ms. The error is the end of a sentence. */
export function parseLifetimeMs(text: string): Result<number, string> {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([mhdw])$/.exec(text) ?? [];
  const unitMs = UNITS_MS.get(unit);
  return count === undefined || unitMs === undefined
    ? err(`${JSON.stringify(text)} is not a duration; write 90m, 12h, 30d or 4w`)
    : ok(Number(count) * unitMs);
}

import type { NewToken, Token } from '../../api/token.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Scope } from '../../core/subject.ts';
import { parseToken, findTokenNameFault, getTokenState } from '../../core/token.ts';
import type { Mint } from '../ports/gate.ts';
import type { Store, StoredToken } from '../ports/store.ts';

export interface TokenRequest {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Undefined: valid until revoked. */
  readonly lifetimeMs: number | undefined;
}

/** The requester and the time. */
interface RequestedBy {
  readonly nowMs: number;
  /** Subject. */
  readonly by: string;
}

interface CreateTokenDeps extends RequestedBy {
  readonly store: Pick<Store, 'addToken'>;
  readonly mint: Mint;
}

interface RevokeTokenDeps extends RequestedBy {
  readonly store: Pick<Store, 'revokeToken'>;
}

/** All tokens ever created, oldest first. */
export async function listTokens(
  store: Pick<Store, 'tokens'>,
  nowMs: number,
): Promise<Result<readonly Token[], Refusal>> {
  const tokens = await store.tokens();
  if (!tokens.ok) return tokens;
  return ok(
    [...tokens.value]
      .sort((one, other) => one.createdMs - other.createdMs || (one.id < other.id ? -1 : 1))
      .map((token) => toToken(token, nowMs)),
  );
}

/** Creates a token and stores its hash. ARGUMENTS_INVALID, TOKEN_EXISTS */
export async function createToken(
  input: TokenRequest,
  { store, mint, nowMs, by }: CreateTokenDeps,
): Promise<Result<NewToken, Refusal>> {
  const reason = findTokenNameFault(input.name);
  if (reason !== undefined) return err({ code: 'ARGUMENTS_INVALID', field: 'name', reason });
  const { text, id, hash } = mint();
  const kept: StoredToken = {
    id,
    name: input.name,
    scopes: input.scopes,
    hash,
    createdMs: nowMs,
    expiresMs: input.lifetimeMs === undefined ? undefined : nowMs + input.lifetimeMs,
    revokedMs: undefined,
  };
  const added = await store.addToken(kept, {
    atMs: nowMs,
    subject: by,
    action: 'token.create',
    target: { kind: 'token', id, name: input.name },
    after: auditedFields(kept),
  });
  return added.ok ? ok({ ...toToken(kept, nowMs), token: text }) : added;
}

/** By name, by id, or by the token itself, for people who find a leaked one. TOKEN_UNKNOWN */
export async function revokeToken(
  what: string,
  { store, nowMs, by }: RevokeTokenDeps,
): Promise<Result<Token, Refusal>> {
  const event = { atMs: nowMs, subject: by, action: 'token.revoke' };
  const revoked = await store.revokeToken(parseToken(what)?.id ?? what, nowMs, event);
  return revoked.ok ? ok(toToken(revoked.value, nowMs)) : revoked;
}

function toToken(token: StoredToken, nowMs: number): Token {
  const { id, name, scopes, createdMs, expiresMs, revokedMs } = token;
  return {
    id,
    name,
    scopes,
    state: getTokenState(token, nowMs),
    createdAt: new Date(createdMs).toISOString(),
    expiresAt: expiresMs === undefined ? null : new Date(expiresMs).toISOString(),
    revokedAt: revokedMs === undefined ? null : new Date(revokedMs).toISOString(),
  };
}

/** The part that may be shown: nothing that could be used as the token. */
function auditedFields({ scopes, expiresMs }: StoredToken): unknown {
  return { scopes, ...(expiresMs !== undefined && { expiresAt: new Date(expiresMs).toISOString() }) };
}

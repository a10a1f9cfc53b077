import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Scope } from '../../core/subject.ts';
import { parseToken, tokenNameFault } from '../../core/token.ts';
import type { Mint } from '../ports/gate.ts';
import type { Store, StoredToken } from '../ports/store.ts';

export interface TokenInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Undefined: valid until revoked. */
  readonly lifetimeMs: number | undefined;
}

export interface NewToken {
  /** The token itself, available only here. */
  readonly text: string;
  readonly kept: StoredToken;
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

/** Creates a token and stores its hash. ARGUMENTS_INVALID if the name is invalid. */
export async function createToken(
  input: TokenInput,
  { store, mint, nowMs, by }: CreateTokenDeps,
): Promise<Result<NewToken, Refusal>> {
  const reason = tokenNameFault(input.name);
  if (reason !== undefined) return err({ code: 'ARGUMENTS_INVALID', reason: `name: ${reason}` });
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
  return added.ok ? ok({ text, kept }) : added;
}

/** By name, by id, or by the token itself, for people who find a leaked one. */
export function revokeToken(
  what: string,
  { store, nowMs, by }: RevokeTokenDeps,
): Promise<Result<StoredToken, Refusal>> {
  const event = { atMs: nowMs, subject: by, action: 'token.revoke' };
  return store.revokeToken(parseToken(what)?.id ?? what, nowMs, event);
}

/** The part that may be shown: nothing that could be used as the token. */
function auditedFields({ scopes, expiresMs }: StoredToken): unknown {
  return { scopes, ...(expiresMs !== undefined && { expiresAt: new Date(expiresMs).toISOString() }) };
}

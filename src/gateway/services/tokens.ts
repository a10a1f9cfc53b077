import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Scope } from '../../core/subject.ts';
import { parseToken, tokenNameFault } from '../../core/token.ts';
import type { Mint } from '../ports/link.ts';
import type { Store, StoredToken } from '../ports/store.ts';

export interface TokenInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Undefined: it holds until it is revoked. */
  readonly lifetimeMs: number | undefined;
}

export interface NewToken {
  /** The token itself, which is known here and nowhere else. */
  readonly text: string;
  readonly kept: StoredToken;
}

/** Who wants it, and when. */
interface Asking {
  readonly nowMs: number;
  /** Subject. */
  readonly by: string;
}

interface Making extends Asking {
  readonly store: Pick<Store, 'addToken'>;
  readonly mint: Mint;
}

interface Revoking extends Asking {
  readonly store: Pick<Store, 'revokeToken'>;
}

/** Makes a token and keeps what proves it. ARGUMENTS_INVALID for a name that no token can have. */
export async function createToken(
  wish: TokenInput,
  { store, mint, nowMs, by }: Making,
): Promise<Result<NewToken, Refusal>> {
  const reason = tokenNameFault(wish.name);
  if (reason !== undefined) return err({ code: 'ARGUMENTS_INVALID', reason });
  const { text, id, hash } = mint();
  const kept: StoredToken = {
    id,
    name: wish.name,
    scopes: wish.scopes,
    hash,
    createdMs: nowMs,
    expiresMs: wish.lifetimeMs === undefined ? undefined : nowMs + wish.lifetimeMs,
    revokedMs: undefined,
  };
  const added = await store.addToken(kept, {
    atMs: nowMs,
    subject: by,
    action: 'token.create',
    target: { kind: 'token', id, name: wish.name },
    after: toldOf(kept),
  });
  return added.ok ? ok({ text, kept }) : added;
}

/** By name, by id, or by the token itself, as whoever finds a leaked one has it at hand. */
export function revokeToken(
  what: string,
  { store, nowMs, by }: Revoking,
): Promise<Result<StoredToken, Refusal>> {
  const deed = { atMs: nowMs, subject: by, action: 'token.revoke' };
  return store.revokeToken(parseToken(what)?.id ?? what, nowMs, deed);
}

/** What may be told of a token: nothing that proves it. */
function toldOf({ scopes, expiresMs }: StoredToken): unknown {
  return { scopes, ...(expiresMs !== undefined && { expiresAt: new Date(expiresMs).toISOString() }) };
}

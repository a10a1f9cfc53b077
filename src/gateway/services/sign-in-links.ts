import { IDLE_MS, LINK_HOLDER, LINK_MS, MAX_SESSIONS, buildSignInUrl } from '../../core/page-session.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Mint } from '../ports/gate.ts';
import type { Store } from '../ports/store.ts';

interface SignInLinkDeps {
  readonly store: Pick<Store, 'addSession'>;
  readonly mint: Mint;
  readonly nowMs: number;
  /** Subject. */
  readonly by: string;
}

export interface SignInLink {
  readonly url: string;
  readonly expiresMs: number;
}

/** Creates a link that signs one browser in to the admin pages at this base URL. */
export async function createSignInLink(
  base: string,
  { store, mint, nowMs, by }: SignInLinkDeps,
): Promise<Result<SignInLink, Refusal>> {
  const { text, id, hash } = mint();
  const expiresMs = nowMs + LINK_MS;
  const times = { createdMs: nowMs, usedMs: nowMs, expiresMs };
  const session = { id, kind: 'link', hash, credential: 'link', ...LINK_HOLDER, ...times } as const;
  const added = await store.addSession(
    { session, nowMs, idleSinceMs: nowMs - IDLE_MS, keep: MAX_SESSIONS },
    {
      atMs: nowMs,
      subject: by,
      action: 'session.link',
      target: { kind: 'session', id, name: LINK_HOLDER.subject },
      after: { scopes: LINK_HOLDER.scopes, expiresAt: new Date(expiresMs).toISOString() },
    },
  );
  return added.ok ? ok({ url: buildSignInUrl(base, text), expiresMs }) : added;
}

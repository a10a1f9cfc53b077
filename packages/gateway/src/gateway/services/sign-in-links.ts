import { IDLE_MS, LINK_HOLDER, LINK_MS, MAX_SESSIONS, buildSignInUrl } from '../../core/page-session.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Mint } from '../ports/gate.ts';
import type { Scope } from '../../core/subject.ts';
import type { Store } from '../ports/store.ts';

interface SignInLinkDeps {
  readonly store: Pick<Store, 'addSession'>;
  readonly mint: Mint;
  readonly nowMs: number;
  /** Subject. */
  readonly by: string;
  /** Default: `admin` alone. */
  readonly scopes?: readonly Scope[] | undefined;
}

export interface SignInLink {
  readonly url: string;
  readonly expiresMs: number;
}

/** Creates a link that signs one browser in to the admin pages at this base URL. */
export async function createSignInLink(
  base: string,
  { store, mint, nowMs, by, scopes = LINK_HOLDER.scopes }: SignInLinkDeps,
): Promise<Result<SignInLink, Refusal>> {
  const { text, id, hash } = mint();
  const expiresMs = nowMs + LINK_MS;
  const times = { createdMs: nowMs, usedMs: nowMs, expiresMs };
  const { subject } = LINK_HOLDER;
  const session = { id, kind: 'link', hash, credential: 'link', subject, scopes, ...times } as const;
  const added = await store.addSession(
    { session, nowMs, idleSinceMs: nowMs - IDLE_MS, keep: MAX_SESSIONS },
    {
      atMs: nowMs,
      subject: by,
      action: 'session.link',
      target: { kind: 'session', id, name: subject },
      after: { scopes, expiresAt: new Date(expiresMs).toISOString() },
    },
  );
  return added.ok ? ok({ url: buildSignInUrl(base, text), expiresMs }) : added;
}

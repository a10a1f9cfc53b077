import { toServerUrl } from './server-url.ts';
import type { ReachRules } from '../../core/reach-rules.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { computeIdentity } from '../../core/server-identity.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { ShownCredential, SignOutReport } from '../../gateway/ports/credentials.ts';
import {
  judgeCredential,
  type EncryptedCredentials,
  type OpenedCredential,
} from './encrypted-credentials.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';

/** Deletes sign-ins and revokes them at their issuers, if the rules for the configured server permit the connection. */
export async function forget(
  { server, subject }: { readonly server: string; readonly subject: string },
  credentials: EncryptedCredentials,
  { servers, rules }: { readonly servers: readonly ServerSpec[]; readonly rules: ReachRules },
): Promise<Result<SignOutReport, Refusal>> {
  const all = await credentials.all();
  if (!all.ok) return all;
  const own = all.value.filter(({ stored }) => stored.server === server && stored.subject === subject);
  if (own.length === 0) return err({ code: 'AUTHORIZATION_UNKNOWN', server, subject });
  const forgotten: ShownCredential[] = [];
  let isRevoked = true;
  for (const opened of own) {
    const removed = await credentials.store.removeCredential(opened.stored);
    if (!removed.ok) return removed;
    isRevoked = (await revokeAt(opened, servers, rules)) && isRevoked;
    forgotten.push(shownOf(opened, servers));
  }
  return ok({ forgotten, isRevoked });
}

async function revokeAt(
  { stored, content }: OpenedCredential,
  servers: readonly ServerSpec[],
  rules: ReachRules,
): Promise<boolean> {
  const spec = specOf(stored, servers);
  const target = spec && getSourceKind(spec.transport).signIn(spec.transport);
  if (content === undefined || spec === undefined || target === undefined) return false;
  // A credential of the entry is of no use at another authorization server, and must not be shown there.
  if (judgeCredential({ stored, content }, target.auth).kind === 'elsewhere') return false;
  const { revoke } = await import('./authorization-server.ts');
  return revoke(content, toServerUrl(spec, target), rules);
}

export function toShownCredentials(
  all: Result<readonly OpenedCredential[], Refusal>,
  servers: readonly ServerSpec[],
): Result<readonly ShownCredential[], Refusal> {
  return all.ok ? ok(all.value.map((opened) => shownOf(opened, servers))) : all;
}

function shownOf(opened: OpenedCredential, servers: readonly ServerSpec[]): ShownCredential {
  const { server, issuer, subject, expiresMs } = opened.stored;
  const state = stateOf(opened, servers);
  return { server, issuer, subject, state, scope: opened.content?.tokens?.scope, expiresMs };
}

function stateOf(
  { stored, content }: OpenedCredential,
  servers: readonly ServerSpec[],
): ShownCredential['state'] {
  const spec = specOf(stored, servers);
  if (spec === undefined) return 'foreign';
  const auth = getSourceKind(spec.transport).signIn(spec.transport)?.auth;
  if (judgeCredential({ stored, content }, auth).kind === 'elsewhere') return 'foreign';
  if (content === undefined) return 'locked';
  if (content.tokens === undefined) return 'ended';
  if (content.tokens.refresh !== undefined) return 'renewable';
  return (stored.expiresMs ?? Infinity) > Date.now() ? 'valid' : 'expired';
}

/** Undefined if the config no longer has this server, or has another one of that name. */
function specOf(
  { server, identity }: OpenedCredential['stored'],
  servers: readonly ServerSpec[],
): ServerSpec | undefined {
  return servers.find((spec) => spec.name === server && computeIdentity(spec) === identity);
}

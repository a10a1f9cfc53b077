import type { ConnectedClient } from '../../api/status.ts';
import { parseClientIdentity, type RecentClient } from './client-load.ts';
import type { OpenSubscription } from './http-request.ts';
import type { Session } from './session.ts';

/**
 * For operators: the clients that have a session or an open stream, and the modern ones seen in the last few minutes.
 */
export function listConnectedClients(
  sessions: Iterable<Session>,
  subscriptions: Iterable<OpenSubscription>,
  recent: readonly RecentClient[],
): readonly ConnectedClient[] {
  const nowMs = performance.now();
  const legacy = [...sessions].map(({ clientInfo, view, subject, isIdle, lastUsedMs }): ConnectedClient => ({
    ...parseClientIdentity(clientInfo),
    era: 'legacy',
    endpoint: view.endpoint,
    subject,
    ...(isIdle && { idleMs: Math.round(nowMs - lastUsedMs) }),
  }));
  const modern = [...subscriptions].map(({ clientInfo, view, holder }): ConnectedClient => ({
    ...parseClientIdentity(clientInfo),
    era: 'modern',
    endpoint: view.endpoint,
    subject: holder.subject,
  }));
  const streaming = new Set(modern.map(keyOf));
  const others = recent.map(({ identity, view, subject, lastUsedMs }): ConnectedClient => ({
    ...identity,
    era: 'modern',
    endpoint: view.endpoint,
    subject,
    idleMs: Math.round(nowMs - lastUsedMs),
  }));
  return [...legacy, ...modern, ...others.filter((client) => !streaming.has(keyOf(client)))];
}

function keyOf({ name, version, endpoint, subject }: ConnectedClient): string {
  return [name, version, endpoint, subject].join('\n');
}

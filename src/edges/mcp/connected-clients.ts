import { isJsonObject } from '../../core/json-object.ts';
import type { ConnectedClient } from '../../gateway/services/gateway-status.ts';
import type { OpenSubscription } from './http-request.ts';
import type { Session } from './session.ts';

/** The clients that have a session or an open stream, for operators. */
export function connectedClients(
  sessions: Iterable<Session>,
  subscriptions: Iterable<OpenSubscription>,
): readonly ConnectedClient[] {
  const nowMs = performance.now();
  const legacy = [...sessions].map(({ clientInfo, view, subject, isIdle, lastUsedMs }): ConnectedClient => ({
    ...identityIn(clientInfo),
    era: 'legacy',
    endpoint: view.endpoint,
    subject,
    ...(isIdle && { idleMs: Math.round(nowMs - lastUsedMs) }),
  }));
  const modern = [...subscriptions].map(({ clientInfo, view, holder }): ConnectedClient => ({
    ...identityIn(clientInfo),
    era: 'modern',
    endpoint: view.endpoint,
    subject: holder.subject,
  }));
  return [...legacy, ...modern];
}

const MAX_NAME_LENGTH = 80;

/** The client chose these texts. */
function identityIn(clientInfo: string | undefined): Pick<ConnectedClient, 'name' | 'version'> {
  const info: unknown = clientInfo === undefined ? undefined : JSON.parse(clientInfo);
  const { name, version } = isJsonObject(info) ? info : {};
  return {
    name: typeof name === 'string' ? name.slice(0, MAX_NAME_LENGTH) : 'unknown',
    ...(typeof version === 'string' && { version: version.slice(0, MAX_NAME_LENGTH) }),
  };
}

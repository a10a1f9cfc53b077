import { ClientSubscriptions, type SubscriptionQuota } from '../../gateway/relay/client-subscriptions.ts';
import type { AttachedClient, ClientSession } from '../../gateway/catalog/client-session.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { Relay } from '../../gateway/relay/call.ts';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { removeSubscriptionId } from '@assay-mcp/protocol/translate';
import { RESOURCE_UPDATED } from './legacy-rules.ts';

/** Sends a notification about a topic. `whole` builds the one that says the whole topic may have changed. */
export type Notify = (topic: string, bytes: Buffer, whole: () => Buffer) => void;

/** The owner of the subscriptions. */
export interface LegacyClient {
  readonly relay: Relay;
  readonly view: View;
  readonly quota: SubscriptionQuota;
  readonly session: ClientSession;
  readonly attached?: AttachedClient | undefined;
}

/** The subscriptions of a client that subscribes to resources one by one and is notified on its own stream. */
export function createLegacySubscriptions(
  { relay, view, quota, session, attached }: LegacyClient,
  notify: Notify,
): ClientSubscriptions {
  const { subject, clientInfo } = session.profile;
  return new ClientSubscriptions({
    relay,
    view,
    quota,
    client: { era: 'legacy', message: undefined, subject, clientInfo, session, attached },
    onUpdate: (uri, note) => {
      const own = (): Buffer => buildNotification(RESOURCE_UPDATED, { uri });
      notify(uri, note === undefined ? own() : removeSubscriptionId(note), own);
    },
  });
}

import { ClientSubscriptions, type SubscriptionQuota } from '../../gateway/relay/client-subscriptions.ts';
import type { ClientSession } from '../../gateway/catalog/client-session.ts';
import type { View } from '../../gateway/catalog/view.ts';
import { notificationMessage } from '../../protocol/reply.ts';
import { withoutSubscriptionId } from '../../protocol/translate.ts';
import { RESOURCE_UPDATED } from './legacy-rules.ts';

/** Says something about a matter; `whole` says that all of the matter may have changed. */
export type Tell = (matter: string, bytes: Buffer, whole: () => Buffer) => void;

/** Whose wishes they are. */
export interface LegacyClient {
  readonly view: View;
  readonly allowance: SubscriptionQuota;
  readonly session: ClientSession;
}

/** The wishes of a client that subscribes to one resource after the other, and is told on its own stream. */
export function legacySubscriptions(
  { view, allowance, session }: LegacyClient,
  tell: Tell,
): ClientSubscriptions {
  const { subject, clientInfo } = session.profile;
  return new ClientSubscriptions({
    view,
    allowance,
    client: { era: 'legacy', message: undefined, subject, clientInfo, session },
    hear: (uri, note) => {
      const own = (): Buffer => notificationMessage(RESOURCE_UPDATED, { uri });
      tell(uri, note === undefined ? own() : withoutSubscriptionId(note), own);
    },
  });
}

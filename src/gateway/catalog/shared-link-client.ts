import type { ServerSpec } from '../../core/server-spec.ts';
import { answerEmpty, type ServerRequestRouter, EMPTY_CLIENT } from './server-request-router.ts';
import { notifySession, type SoleClient } from './client-session.ts';
import type { LinkEvents, OpenOptions } from '../ports/link.ts';

/** The client that a server sees on its shared link. */
export interface SharedLinkClient {
  readonly profile: OpenOptions['client'];
  readonly isShared: boolean;
  readonly events: Pick<LinkEvents, 'requested' | 'notified'>;
}

const NOBODY: SharedLinkClient = { profile: undefined, isShared: true, events: {} };
const LISTS: SharedLinkClient = {
  profile: EMPTY_CLIENT,
  isShared: true,
  events: { requested: answerEmpty },
};

/**
 * The only client of the process, if any. Otherwise no client: if each client has its own link, the shared one is only
 * for lists.
 */
export function createSharedLinkClient(
  spec: ServerSpec,
  sole: SoleClient | undefined,
  router: ServerRequestRouter | undefined,
): SharedLinkClient {
  if (sole === undefined) return spec.isolation === 'session' ? LISTS : NOBODY;
  // Modern clients receive no notifications outside their requests.
  return {
    profile: sole.profile,
    isShared: false,
    events: { requested: router?.handle, notified: (note) => notifySession(sole.sessionFor(spec), note) },
  };
}

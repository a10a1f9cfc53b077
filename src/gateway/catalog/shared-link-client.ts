import type { ServerSpec } from '../../core/server-spec.ts';
import { answerEmpty, type ServerRequestRouter, EMPTY_CLIENT } from './server-request-router.ts';
import { tell, type SoleClient } from './client-session.ts';
import type { LinkEvents, Opening } from '../ports/link.ts';

/** Who is at the other end of a server's shared link. */
export interface SharedLinkClient {
  readonly profile: Opening['client'];
  readonly events: Pick<LinkEvents, 'requested' | 'notified'>;
}

const NOBODY: SharedLinkClient = { profile: undefined, events: {} };
const LISTS: SharedLinkClient = { profile: EMPTY_CLIENT, events: { requested: answerEmpty } };

/** The only client of the process; else nobody: where each client has a link of its own the shared one is for lists. */
export function sharedLinkClient(
  { name, isolation }: ServerSpec,
  sole: SoleClient | undefined,
  router: ServerRequestRouter | undefined,
): SharedLinkClient {
  if (sole === undefined) return isolation === 'session' ? LISTS : NOBODY;
  // A modern client hears nothing that belongs to none of its requests.
  return {
    profile: sole.profile,
    events: { requested: router?.handle, notified: (note) => tell(sole.sessionFor(name), note) },
  };
}

import type { ServerSpec } from '../../core/server-spec.ts';
import type { LinkEvents, OpenOptions } from '../ports/link.ts';
import { notifySession, type SoleClient } from './client-session.ts';
import {
  answerEmpty,
  EMPTY_CLIENT,
  refuseIfStopped,
  type ServerRequestRouter,
  type StopSource,
} from './server-request-router.ts';
import type { SharedRequests } from './shared-requests.ts';

/** The client that a server sees on its shared link. */
export interface SharedLinkClient {
  readonly profile: OpenOptions['client'];
  readonly isShared: boolean;
  readonly events: Pick<LinkEvents, 'requested' | 'notified'>;
}

/** Where a server's requests of its client go. */
interface RequestTargets {
  readonly sole: ServerRequestRouter | undefined;
  readonly sharedRequests: SharedRequests | undefined;
  /** A stopped server reaches no client, except through calls that were in progress. */
  readonly policy?: StopSource | undefined;
}

const NOBODY: SharedLinkClient = { profile: undefined, isShared: true, events: {} };
const LISTS: SharedLinkClient = {
  profile: EMPTY_CLIENT,
  isShared: true,
  events: { requested: answerEmpty },
};

/**
 * The only client of the process, if any. Otherwise no client: if each client has its own link, the shared one is only
 * for lists. A process that attached clients share is told of a client that can do everything: what it requests shows
 * that it needs a client of its own.
 */
export function createSharedLinkClient(
  spec: ServerSpec,
  sole: SoleClient | undefined,
  { sole: router, sharedRequests, policy }: RequestTargets,
): SharedLinkClient {
  const isStopped = (): boolean => policy?.findStop?.(spec.name) !== undefined;
  if (sole === undefined && sharedRequests?.isOffered === true)
    return {
      profile: EMPTY_CLIENT,
      isShared: true,
      events: {
        requested: refuseIfStopped(spec.name, policy, sharedRequests.handle),
        notified: (note) => !isStopped() && notifySession(sharedRequests.session, note),
      },
    };
  if (sole === undefined) return spec.isolation === 'session' ? LISTS : NOBODY;
  // Modern clients receive no notifications outside their requests.
  return {
    profile: sole.profile,
    isShared: false,
    events: {
      requested: router && refuseIfStopped(spec.name, policy, router.handle),
      notified: (note) => !isStopped() && notifySession(sole.sessionFor(spec), note),
    },
  };
}

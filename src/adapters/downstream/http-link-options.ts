import type { LinkEvents, Log } from '../../gateway/ports.ts';
import type { HttpReach } from '../../platform/http-client.ts';
import type { Authorizer } from '../../gateway/ports/credentials.ts';

export interface HttpLinkOptions {
  readonly server: string;
  readonly url: URL;
  readonly reach: HttpReach;
  /** Headers that the config gives to each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly events: LinkEvents;
  readonly log: Log;
  readonly ownInfo: string;
  /** Undefined: the headers say all. */
  readonly authorizer: Authorizer | undefined;
}

import type { NotificationMessage } from '../../protocol/message.ts';
import { taskIdsInNote } from '../../protocol/tasks.ts';
import type { ClientProfile, ServerRequest } from '../ports/link.ts';

/** A legacy client for as long as its session lasts. */
export interface ClientSession {
  readonly id: string;
  readonly profile: ClientProfile;
  /** Asks the client on whatever stream it has. */
  readonly ask: (serverRequest: ServerRequest) => void;
  /** Told of what a server of its own says that belongs to none of its requests. */
  hear(note: NotificationMessage): void;
}

/** Hands a client what a server of its own says, but for news of tasks, which have other names for clients; says whether it did. */
export function tell(session: ClientSession | undefined, note: NotificationMessage): boolean {
  if (session === undefined || taskIdsInNote(note).length > 0) return false;
  session.hear(note);
  return true;
}

/** The one client of a process that has only one: its servers are opened in its name. */
export class SoleClient {
  /** Known when the client has said its first word; undefined: it can do nothing for servers. */
  readonly profile: Promise<ClientProfile | undefined>;
  /** Of a legacy client. */
  session: ClientSession | undefined;
  /** Whether the client is shown anything of this server; who is not shown says nothing to it and asks it nothing. */
  shows: (server: string) => boolean = () => true;
  readonly #introduced: (profile: ClientProfile | undefined) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<ClientProfile | undefined>();
    this.profile = promise;
    this.#introduced = resolve;
  }

  /** The session in which this server may speak. */
  sessionFor(server: string): ClientSession | undefined {
    return this.shows(server) ? this.session : undefined;
  }

  /** What a client says first counts, as a link is opened once; its session is that of its last handshake. */
  introduce(profile: ClientProfile | undefined, session?: ClientSession): void {
    this.session = session ?? this.session;
    this.#introduced(profile);
  }
}

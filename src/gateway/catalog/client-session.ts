import type { NotificationMessage } from '../../protocol/message.ts';
import { taskIdsInNote } from '../../protocol/tasks.ts';
import type { Offer, Question } from '../ports/link.ts';

/** A legacy client for as long as its session lasts. */
export interface ClientSession {
  readonly id: string;
  readonly offer: Offer;
  /** Asks the client on whatever stream it has. */
  readonly ask: (question: Question) => void;
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
  readonly offer: Promise<Offer | undefined>;
  /** Of a legacy client. */
  session: ClientSession | undefined;
  /** Whether the client is shown anything of this server; who is not shown says nothing to it and asks it nothing. */
  shows: (server: string) => boolean = () => true;
  readonly #introduced: (offer: Offer | undefined) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Offer | undefined>();
    this.offer = promise;
    this.#introduced = resolve;
  }

  /** The session in which this server may speak. */
  sessionFor(server: string): ClientSession | undefined {
    return this.shows(server) ? this.session : undefined;
  }

  /** What a client says first counts, as a link is opened once; its session is that of its last handshake. */
  introduce(offer: Offer | undefined, session?: ClientSession): void {
    this.session = session ?? this.session;
    this.#introduced(offer);
  }
}

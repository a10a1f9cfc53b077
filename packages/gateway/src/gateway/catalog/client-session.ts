import type { Refusal } from '../../core/refusal.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { NotificationMessage } from '@assay-mcp/protocol/message';
import { findTaskIdsInNote } from '@assay-mcp/protocol/tasks';
import type { ClientProfile, ServerRequest } from '../ports/link.ts';
import { type AddLabels, computeServerLabels } from './server-labels.ts';

/** A legacy client during its session. */
export interface ClientSession {
  readonly id: string;
  readonly profile: ClientProfile;
  /** Sends the client a server request on any available stream. */
  readonly ask: (serverRequest: ServerRequest) => void;
  /** Receives notifications of its own servers that belong to none of its requests. */
  notify(note: NotificationMessage): void;
  /**
   * Called before a process of its own starts, if the session may have had one in another process of Assay.
   * SERVER_STATE_LOST
   */
  readonly startProcess?: (server: string) => Promise<Result<undefined, Refusal>>;
  /** Whether its own process at a server is here. Undefined if it has none. */
  readonly hasProcess?: (server: string) => boolean | undefined;
}

/** A client whose own process only passes its messages on to this gateway (`assay stdio --attach`). */
export interface AttachedClient {
  readonly id: string;
  /** A server's entry with the folder and the variables of this client. Undefined if they make no difference to it. */
  specFor(spec: ServerSpec): ServerSpec | undefined;
}

/**
 * Forwards a notification of the client's own server, except about tasks, whose ids differ for clients. Returns whether
 * it did.
 */
export function notifySession(session: ClientSession | undefined, note: NotificationMessage): boolean {
  if (session === undefined || findTaskIdsInNote(note).length > 0) return false;
  session.notify(note);
  return true;
}

/** A session as one server sees it: requests and notifications outside calls label the client first. */
export function labelSession(
  session: ClientSession,
  spec: ServerSpec,
  add: AddLabels | undefined,
): ClientSession {
  if (add === undefined) return session;
  // In effect here at once; other replicas read it from the store, where it arrives a little later.
  const label = (method: string): void =>
    void add(session.profile.subject, computeServerLabels(spec), `${spec.name} ${method}`);
  return {
    id: session.id,
    profile: session.profile,
    ask: (serverRequest) => {
      label(serverRequest.message.method);
      session.ask(serverRequest);
    },
    notify: (note) => {
      label(note.method);
      session.notify(note);
    },
  };
}

/** The only client of a single-client process. Servers are opened on its behalf. */
export class SoleClient {
  /** Resolves at the client's first message. Undefined: it has no client capabilities. */
  readonly profile: Promise<ClientProfile | undefined>;
  /** Set for a legacy client. */
  session: ClientSession | undefined;
  /** Records what the client has seen. Undefined: nothing is recorded. */
  addLabels: AddLabels | undefined;
  /** Whether the client sees anything of this server. A hidden server cannot notify it or send it requests. */
  shows: (server: string) => boolean = () => true;
  readonly #introduced: (profile: ClientProfile | undefined) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<ClientProfile | undefined>();
    this.profile = promise;
    this.#introduced = resolve;
  }

  /** The session that this server may use. */
  sessionFor(spec: ServerSpec): ClientSession | undefined {
    const { session } = this;
    return session && this.shows(spec.name) ? labelSession(session, spec, this.addLabels) : undefined;
  }

  /** The first profile wins, as a link is opened once. The session is that of the last handshake. */
  introduce(profile: ClientProfile | undefined, session?: ClientSession): void {
    this.session = session ?? this.session;
    this.#introduced(profile);
  }
}

import type { AttachedClient, ClientSession } from './client-session.ts';
import type { ServerRequest, UpstreamRequest } from '../ports/link.ts';
import { answerEmpty, refuseServerRequest, ServerRequestRouter } from './server-request-router.ts';

/** Who has the server of a shared process do something; a `Call` is one. */
export interface SharedProcessUser {
  /** Undefined for a client that is not attached: nothing that the server requests is passed on to it. */
  readonly attached?: AttachedClient | undefined;
  /** Set for a legacy client. */
  readonly session?: ClientSession | undefined;
}

/** `several`: no request of the server can be assigned to one of them. */
type Users =
  | { readonly kind: 'none' | 'several' }
  | { readonly kind: 'one'; readonly id: string; readonly session: ClientSession | undefined };

const SEVERAL: Users = { kind: 'several' };

/**
 * What the server of a shared process requests of its client. On stdio nothing says to which call such a request belongs,
 * so it is passed on only while a single attached client has used the process since it started. `onRequest` is called
 * before each: from then on, each attached client gets a process of its own.
 */
export class SharedRequests {
  readonly #onRequest: () => void;
  readonly #label: (session: ClientSession) => ClientSession;
  readonly #router = new ServerRequestRouter(() =>
    this.#users.kind === 'one' ? this.#users.session : undefined,
  );
  #users: Users = { kind: 'none' };
  #isOffered = false;

  /** `label`: the session as the server sees it, which labels its client before it receives anything. */
  constructor(onRequest: () => void, label: (session: ClientSession) => ClientSession) {
    this.#onRequest = onRequest;
    this.#label = label;
  }

  /** Called when a new process starts. `isOffered`: whether it is told of a client that answers requests. */
  restart(isOffered: boolean): void {
    this.#isOffered = isOffered;
    this.#users = { kind: 'none' };
  }

  get isOffered(): boolean {
    return this.#isOffered;
  }

  /** Whether this attached client is the only one that has used the process. */
  isOnlyUser(id: string): boolean {
    return this.#users.kind === 'one' && this.#users.id === id;
  }

  /** Registers a call. The result is for `end`. */
  begin(call: SharedProcessUser & Pick<UpstreamRequest, 'onServerRequest'>): number | undefined {
    this.use(call);
    return call.onServerRequest && this.#router.add(call.onServerRequest);
  }

  /** Notes whoever has the server do something, also without a call. */
  use({ attached, session }: SharedProcessUser): void {
    const users = this.#users;
    if (users.kind === 'several' || (users.kind === 'one' && users.id === attached?.id)) return;
    this.#users =
      attached === undefined || users.kind === 'one'
        ? SEVERAL
        : { kind: 'one', id: attached.id, session: session && this.#label(session) };
  }

  end(begun: number | undefined): void {
    this.#router.delete(begun);
  }

  /** The session of the only user. */
  get session(): ClientSession | undefined {
    return this.#users.kind === 'one' ? this.#users.session : undefined;
  }

  readonly handle = (serverRequest: ServerRequest): void => {
    this.#onRequest();
    const { kind } = this.#users;
    if (kind === 'one') this.#router.handle(serverRequest);
    else if (kind === 'none') answerEmpty(serverRequest);
    else refuseServerRequest(serverRequest);
  };
}

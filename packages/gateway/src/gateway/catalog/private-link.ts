import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../core/server-spec.ts';
import type {
  UpstreamRequest,
  Connect,
  Link,
  LinkEvents,
  Reply,
  ServerRequest,
  ServerRequestHandler,
} from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import { labelSession, notifySession, type ClientSession } from './client-session.ts';
import type { LinkChoice } from './link-choice.ts';
import type { ResourceSubscriptions } from './resource-subscriptions.ts';
import type { AddLabels } from './server-labels.ts';
import {
  ServerRequestRouter,
  refuseIfStopped,
  refuseServerRequest,
  type StopSource,
} from './server-request-router.ts';
import type { StartLimiter } from './start-limiter.ts';
import type { TwinDenials, TwinCall } from './twin-denials.ts';
import { UpstreamLogLevel } from './upstream-log-level.ts';
import { reportStartFailure } from './wait-refusal.ts';

/** Time limit in ms for a server to start and complete its handshake. */
export const START_LIMIT_MS = 60_000;

/** A request for a private link. */
export interface PrivateLinkRequest {
  readonly choice: Exclude<LinkChoice, { kind: 'shared' }>;
  /** Undefined in the modern era. */
  readonly session: ClientSession | undefined;
}

interface PrivateLinkOptions extends PrivateLinkRequest {
  readonly connect: Connect;
  readonly log: Log;
  readonly spec: ServerSpec;
  readonly denials?: TwinDenials | undefined;
  readonly addLabels?: AddLabels | undefined;
  readonly policy?: StopSource | undefined;
  readonly starts?: StartLimiter | undefined;
  readonly subscriptions: ResourceSubscriptions;
  /** `closed` resolves when its process is gone. */
  readonly onEnd: (closed: Promise<void>) => void;
}

/** A link that belongs to one client. */
export class PrivateLink {
  /** Resolves with undefined when the link is ready, or with the reason why it failed. */
  readonly opened: Promise<Cause | undefined>;
  link: Link | undefined;
  lastUsedMs: number = performance.now();
  /** The last call of a twin. If the twin ends between two calls, this one is the cause. */
  lastCall: TwinCall | undefined;
  readonly #options: PrivateLinkOptions;
  readonly #router: ServerRequestRouter;
  readonly #closing = new AbortController();
  #users = 0;
  readonly #logs: UpstreamLogLevel;
  /** The end of the last call that was given its turn. */
  #turn: Promise<unknown> = Promise.resolve();
  #closeCause: Cause | undefined;
  #ending: Cause | undefined;
  #closed: Promise<void> | undefined;
  /** The end of the process of a failed attempt. */
  #attemptEnded: Promise<void> | undefined;

  constructor({ addLabels, ...options }: PrivateLinkOptions) {
    const session = options.session && labelSession(options.session, options.spec, addLabels);
    this.#options = { ...options, session };
    this.#logs = new UpstreamLogLevel(options.session === undefined);
    this.#router = new ServerRequestRouter(() => session, this.keepsState);
    this.opened = this.#open();
  }

  get subscriptions(): ResourceSubscriptions {
    return this.#options.subscriptions;
  }

  get isIdle(): boolean {
    // A subscription keeps the link in use without requests.
    return this.#users === 0 && this.subscriptions.isEmpty;
  }

  get subject(): string {
    return this.#options.choice.profile.subject;
  }

  /** Whether it is the twin of its server. */
  get isTwin(): boolean {
    return this.#options.choice.rights !== undefined;
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /** Why it has ended. */
  get ending(): Cause | undefined {
    return this.#ending;
  }

  /** Resolves when no earlier call has its turn, with a function that ends the turn. */
  async takeTurn(): Promise<() => void> {
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#turn = promise;
    await before;
    return () => resolve(undefined);
  }

  get hasSession(): boolean {
    const { choice, session } = this.#options;
    return session !== undefined || (choice.kind === 'own' && choice.isKept === true);
  }

  /** Whether it belongs to a client without a session, for which its process keeps state. */
  get keepsState(): boolean {
    const { choice } = this.#options;
    return choice.kind === 'own' && choice.owner !== undefined;
  }

  /**
   * Whether no other request may use it now. A connection carries one request at a time, so the other is suspended; and
   * a pool of connections may serve several clients, who must not get each other's questions.
   */
  get isTaken(): boolean {
    const { choice } = this.#options;
    return this.#users > 0 && choice.kind === 'own' && choice.owner === 'connection';
  }

  async send(request: UpstreamRequest): Promise<Result<Reply, Refusal>> {
    const { link } = this;
    if (link === undefined) throw new Error('a private link was used before it was ready');
    return link.send(request);
  }

  /** Sets the minimum level of log messages for the client. Resolves when the server was told. */
  requestLogLevel(level: string): Promise<void> | undefined {
    return this.#logs.request(level, this.link);
  }

  hold(): void {
    this.#users += 1;
  }

  release(): void {
    this.#users -= 1;
    this.lastUsedMs = performance.now();
    if (this.#options.choice.kind === 'once') void this.close({ code: 'LINK_CLOSED' });
    else if (this.#closeCause !== undefined) this.closeWhenUnused(this.#closeCause);
  }

  /** Closes it as soon as no request uses it. */
  closeWhenUnused(cause: Cause): void {
    this.#closeCause = cause;
    if (this.#users === 0) void this.close(cause);
  }

  /** Registers a call's handler for server requests, if the link does not tie them to calls. */
  begin(handler: ServerRequestHandler): number | undefined {
    const { isForAll = false } = this.#options.choice;
    return isForAll || this.link?.correlatesServerRequests === true ? undefined : this.#router.add(handler);
  }

  over(begun: number | undefined): void {
    this.#router.delete(begun);
  }

  async close(cause: Cause): Promise<void> {
    this.#end(cause);
    await this.#closed;
  }

  async #open(): Promise<Cause | undefined> {
    // A call waits for it.
    const start = this.#options.starts?.enter(true);
    const leave = (): void => start?.end();
    const { signal } = this.#closing;
    signal.addEventListener('abort', leave);
    try {
      if (start?.turn !== undefined) await start.turn;
      return this.#ending ?? (await this.#connect());
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  async #connect(): Promise<Cause | undefined> {
    const { spec, connect, choice, session, log, policy } = this.#options;
    const events: LinkEvents = {
      // Clients see the lists of the shared link.
      changed: () => undefined,
      updated: (uri, note) => this.subscriptions.updated(uri, note),
      missed: () => this.subscriptions.missed(),
      drained: () => undefined,
      ended: (cause) => void this.close(cause),
      requested: refuseIfStopped(spec.name, policy, (serverRequest) => this.#asked(serverRequest)),
      notified: (note) => policy?.findStop?.(spec.name) === undefined && notifySession(session, note),
    };
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(START_LIMIT_MS)]);
    const { profile: client, rights, isForAll: isShared = false } = choice;
    const onEnding = (ended: Promise<void>): void => {
      this.#attemptEnded = ended;
    };
    const opened = await connect(spec, { events, signal, client, rights, isShared, onEnding }).catch(
      (error: unknown) => err(reportStartFailure(spec.name, error, log)),
    );
    if (!opened.ok) {
      this.#end(opened.error);
      return opened.error;
    }
    this.link = opened.value;
    if (this.#ending !== undefined) return this.#ending;
    void this.subscriptions.linkReady(opened.value, spec.timeoutMs);
    log.debug('a client has a link of its own', { server: spec.name, subject: choice.profile.subject });
    return undefined;
  }

  #asked(serverRequest: ServerRequest): void {
    const { session } = this.#options;
    if (this.link?.correlatesServerRequests !== true) this.#router.handle(serverRequest);
    else if (session === undefined) refuseServerRequest(serverRequest);
    else session.ask(serverRequest);
  }

  #end(cause: Cause): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause;
    if (this.#users === 0 && this.lastCall !== undefined) this.#options.denials?.late(this.lastCall, cause);
    this.subscriptions.linkLost();
    this.#closing.abort();
    this.#closed = this.#close(cause);
    this.#options.onEnd(this.#closed);
  }

  async #close(cause: Cause): Promise<void> {
    await this.opened;
    await Promise.all([this.link?.close(cause), this.#attemptEnded]);
  }
}

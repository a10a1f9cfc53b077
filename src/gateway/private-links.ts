import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import type { Settings } from '../core/settings.ts';
import { passing, type Ending } from '../core/supervision.ts';
import { Askers, refuseQuestion, type Asker } from './askers.ts';
import { tell, type ClientSession } from './client-session.ts';
import { LogWishes } from './log-wishes.ts';
import type { LinkChoice } from './link-choice.ts';
import type { Ask, Connect, Link, LinkEvents, Log, Reply } from './ports.ts';
import { ResourceSubscriptions } from './resource-subscriptions.ts';

export interface PrivateLinksDeps {
  readonly spec: () => ServerSpec;
  readonly connect: Connect;
  readonly log: Log;
  readonly limits: Pick<
    Settings,
    'limits.processesPerServer' | 'limits.linksPerServer' | 'limits.idleLinkMs'
  >;
}

/** Who wants a link. */
export interface Wish {
  readonly choice: Exclude<LinkChoice, { kind: 'shared' }>;
  /** Undefined in the modern era. */
  readonly session: ClientSession | undefined;
}

/** How long a call waits for its link. */
export type Patience = Pick<Ask, 'timeoutMs' | 'cancellation'>;

/** Time in ms that a server has from its start to the end of its handshake. */
const START_LIMIT_MS = 60_000;
/** Wait in ms before a link that has broken is opened again for who is told of resources. */
const REOPEN_MS = 1_000;

/** The links of one server that belong to one client each: opened when they are wanted, ended with their client. */
export class PrivateLinks {
  readonly #deps: PrivateLinksDeps;
  readonly #byKey = new Map<string, PrivateLink>();
  /** What clients want to hear of outlasts the links on which they are told. */
  readonly #subscriptions = new Map<string, ResourceSubscriptions>();
  readonly #all = new Set<PrivateLink>();
  #sweeping: NodeJS.Timeout | undefined;
  #stopped: string | undefined;

  constructor(deps: PrivateLinksDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#all.size;
  }

  /**
   * The link of a wish, opened where there is none. Who gets it calls `release`, once. SERVER_UNREACHED, SERVER_BUSY,
   * AUTHORIZATION_NEEDED; SERVER_UNAVAILABLE where it does not stand in time, CANCELLED.
   */
  async take({ choice, session }: Wish, patience: Patience): Promise<Result<PrivateLink, Refusal>> {
    const known = choice.kind === 'own' ? this.#byKey.get(choice.key) : undefined;
    const link = known ?? this.#make(choice, session);
    if (link === undefined) return err(this.#full());
    link.hold();
    if (link.link !== undefined) return ok(link);
    const server = this.#deps.spec().name;
    const opened = await Promise.race([link.opened, outOf(patience, link.opened)]);
    if (opened === undefined) return ok(link);
    link.release();
    if ('cause' in opened) return err(refusalOf(opened, server, choice.offer.subject));
    return err(opened.isLate ? { code: 'SERVER_UNAVAILABLE', server, cause: SLOW } : { code: 'CANCELLED' });
  }

  /** The link that a client has, if it has one. */
  find(key: string): Link | undefined {
    return this.#byKey.get(key)?.link;
  }

  /** The client is gone, and with it what was opened for it. */
  end(key: string, cause: string): void {
    this.#subscriptions.delete(key);
    void this.#byKey.get(key)?.close(cause);
  }

  async stop(cause: string): Promise<void> {
    this.#stopped = cause;
    await Promise.all([...this.#all].map((link) => link.close(cause)));
  }

  #make(choice: Wish['choice'], session: ClientSession | undefined): PrivateLink | undefined {
    if (this.#stopped !== undefined || (this.#all.size >= this.#most() && !this.#makeRoom()))
      return undefined;
    const { spec, connect, log } = this.#deps;
    const key = choice.kind === 'own' ? choice.key : undefined;
    const onEnd = (): void => {
      this.#all.delete(link);
      if (this.#all.size === 0) clearInterval(this.#sweeping);
      if (key === undefined || this.#byKey.get(key) !== link) return;
      this.#byKey.delete(key);
      if (this.#subscriptions.get(key) !== subscriptions) return;
      if (subscriptions.isEmpty || this.#stopped !== undefined) this.#subscriptions.delete(key);
      else setTimeout(() => void this.#reopen({ choice, session }), REOPEN_MS).unref();
    };
    const subscriptions =
      (key === undefined ? undefined : this.#subscriptions.get(key)) ??
      new ResourceSubscriptions(spec().name, log);
    if (key !== undefined) this.#subscriptions.set(key, subscriptions);
    const options = { spec: spec(), connect, log, choice, session, subscriptions, onEnd };
    const link: PrivateLink = new PrivateLink(options);
    if (this.#all.size === 0) this.#sweep();
    this.#all.add(link);
    if (key !== undefined) this.#byKey.set(key, link);
    return link;
  }

  /** A client that is told of resources, and only listens, would never ask for its link again. */
  async #reopen(wish: Wish): Promise<void> {
    const taken = await this.take(wish, { timeoutMs: START_LIMIT_MS, cancellation: undefined });
    if (taken.ok) taken.value.release();
  }

  #most(): number {
    const { spec, limits } = this.#deps;
    const isProcess = spec().transport.kind === 'stdio';
    return limits[isProcess ? 'limits.processesPerServer' : 'limits.linksPerServer'];
  }

  /** Ends the one that was idle longest; false where all are in use. */
  #makeRoom(): boolean {
    const idle = [...this.#all].filter(({ isIdle }) => isIdle);
    const oldest = idle.reduce<PrivateLink | undefined>(
      (a, b) => (a === undefined || b.lastUsedMs < a.lastUsedMs ? b : a),
      undefined,
    );
    void oldest?.close('another client needs its place');
    return oldest !== undefined;
  }

  /** A client of the modern era never says that it is gone. */
  #sweep(): void {
    const idleMs = this.#deps.limits['limits.idleLinkMs'];
    this.#sweeping = setInterval(() => {
      const since = Date.now() - idleMs;
      for (const link of this.#all)
        if (link.isIdle && !link.hasSession && link.lastUsedMs < since) void link.close('it was idle');
    }, idleMs).unref();
  }

  #full(): Refusal {
    const server = this.#deps.spec().name;
    if (this.#stopped !== undefined) return { code: 'SERVER_UNAVAILABLE', server, cause: this.#stopped };
    const setting =
      this.#deps.spec().transport.kind === 'stdio' ? 'limits.processesPerServer' : 'limits.linksPerServer';
    return { code: 'SERVER_BUSY', server, cause: `${this.#all.size} clients use it at a time (${setting})` };
  }
}

function refusalOf({ isUnauthorized, cause }: Ending, server: string, subject: string): Refusal {
  return isUnauthorized === true
    ? { code: 'AUTHORIZATION_NEEDED', server, subject }
    : { code: 'SERVER_UNREACHED', server, cause };
}

const SLOW = 'it has not started yet for this client';

/** Resolves when who waits for a link waits no longer, though it is not settled yet. */
function outOf(
  { timeoutMs, cancellation }: Patience,
  settled: Promise<unknown>,
): Promise<{ readonly isLate: boolean }> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ isLate: true }), timeoutMs);
    cancellation?.listen(() => resolve({ isLate: false }));
    void settled.then(() => {
      clearTimeout(timer);
      cancellation?.listen(undefined);
    });
  });
}

interface PrivateLinkOptions extends Pick<PrivateLinksDeps, 'connect' | 'log'>, Wish {
  readonly spec: ServerSpec;
  readonly subscriptions: ResourceSubscriptions;
  readonly onEnd: () => void;
}

/** One link of one client. */
export class PrivateLink {
  /** Resolves when it stands, with undefined, or with why it does not. */
  readonly opened: Promise<Ending | undefined>;
  link: Link | undefined;
  lastUsedMs: number = Date.now();
  readonly #options: PrivateLinkOptions;
  readonly #askers: Askers;
  readonly #closing = new AbortController();
  #users = 0;
  readonly #logs: LogWishes;
  #ending: string | undefined;

  constructor(options: PrivateLinkOptions) {
    this.#options = options;
    this.#logs = new LogWishes(options.session === undefined);
    this.#askers = new Askers(() => options.session);
    this.opened = this.#open();
  }

  get subscriptions(): ResourceSubscriptions {
    return this.#options.subscriptions;
  }

  get isIdle(): boolean {
    return this.#users === 0;
  }

  get hasSession(): boolean {
    return this.#options.session !== undefined;
  }

  async ask(ask: Ask): Promise<Result<Reply, Refusal>> {
    const { link } = this;
    if (link === undefined) throw new Error('asked before it stood');
    return link.ask(ask);
  }

  /** The client wants log messages from this level on. Resolves when the server has heard of it. */
  wantLogs(level: string): Promise<void> {
    return this.#logs.want(level, this.link);
  }

  hold(): void {
    this.#users += 1;
  }

  release(): void {
    this.#users -= 1;
    this.lastUsedMs = Date.now();
    if (this.#options.choice.kind === 'once') void this.close('its call is over');
  }

  /** A call of this client begins; where its link does not tie questions to it, they may come this way. */
  begin(asker: Asker): number | undefined {
    return this.link?.tiesQuestions === true ? undefined : this.#askers.add(asker);
  }

  over(begun: number | undefined): void {
    this.#askers.delete(begun);
  }

  async close(cause: string): Promise<void> {
    this.#end(cause);
    this.#closing.abort();
    await this.opened;
    await this.link?.close(cause);
  }

  async #open(): Promise<Ending | undefined> {
    const { spec, connect, choice, session, log } = this.#options;
    const events: LinkEvents = {
      // The lists that clients see are those of the shared link.
      changed: () => undefined,
      updated: (uri, note) => this.subscriptions.updated(uri, note),
      missed: () => this.subscriptions.missed(),
      drained: () => undefined,
      ended: (cause) => this.#end(cause),
      asked: (question) => this.#asked(question),
      said: (note) => tell(session, note),
    };
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(START_LIMIT_MS)]);
    const opened = await connect(spec, { events, signal, offer: choice.offer });
    if (!opened.ok) {
      this.#end(opened.error.cause);
      return opened.error;
    }
    this.link = opened.value;
    void this.subscriptions.stood(opened.value, spec.timeoutMs);
    if (this.#ending !== undefined) return passing(this.#ending);
    log.debug('a client has a link of its own', { server: spec.name, subject: choice.offer.subject });
    return undefined;
  }

  #asked(question: Parameters<Asker>[0]): void {
    const { session } = this.#options;
    if (this.link?.tiesQuestions !== true) this.#askers.asked(question);
    else if (session === undefined) refuseQuestion(question);
    else session.ask(question);
  }

  #end(cause: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause;
    this.subscriptions.gone();
    this.#options.onEnd();
  }
}

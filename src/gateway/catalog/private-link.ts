import type { Cause } from '../../core/cause.ts';
import { err, type Result } from '../../core/result.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { type Asker, Askers, refuseQuestion } from './askers.ts';
import { tell, type ClientSession } from './client-session.ts';
import type { LinkChoice } from './link-choice.ts';
import { LogWishes } from './log-wishes.ts';
import type { Ask, Connect, Link, LinkEvents, Log, Reply } from '../ports/link.ts';
import type { ResourceSubscriptions } from './resource-subscriptions.ts';
import { startFailure } from './why-not-wait.ts';

/** Time in ms that a server has from its start to the end of its handshake. */
export const START_LIMIT_MS = 60_000;

/** Who wants a link. */
export interface Wish {
  readonly choice: Exclude<LinkChoice, { kind: 'shared' }>;
  /** Undefined in the modern era. */
  readonly session: ClientSession | undefined;
}

export interface PrivateLinkOptions extends Wish {
  readonly connect: Connect;
  readonly log: Log;
  readonly spec: ServerSpec;
  readonly subscriptions: ResourceSubscriptions;
  readonly onEnd: () => void;
}

/** One link of one client. */
export class PrivateLink {
  /** Resolves when it stands, with undefined, or with why it does not. */
  readonly opened: Promise<Cause | undefined>;
  link: Link | undefined;
  lastUsedMs: number = performance.now();
  readonly #options: PrivateLinkOptions;
  readonly #askers: Askers;
  readonly #closing = new AbortController();
  #users = 0;
  readonly #logs: LogWishes;
  #ending: Cause | undefined;

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
    // Who is told of resources uses it without a word.
    return this.#users === 0 && this.subscriptions.isEmpty;
  }

  get subject(): string {
    return this.#options.choice.offer.subject;
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
    this.lastUsedMs = performance.now();
    if (this.#options.choice.kind === 'once') void this.close({ code: 'LINK_CLOSED' });
  }

  /** A call of this client begins; where its link does not tie questions to it, they may come this way. */
  begin(asker: Asker): number | undefined {
    return this.link?.tiesQuestions === true ? undefined : this.#askers.add(asker);
  }

  over(begun: number | undefined): void {
    this.#askers.delete(begun);
  }

  async close(cause: Cause): Promise<void> {
    this.#end(cause);
    this.#closing.abort();
    await this.opened;
    await this.link?.close(cause);
  }

  async #open(): Promise<Cause | undefined> {
    const { spec, connect, choice, session, log } = this.#options;
    const events: LinkEvents = {
      // The lists that clients see are those of the shared link.
      changed: () => undefined,
      updated: (uri, note) => this.subscriptions.updated(uri, note),
      missed: () => this.subscriptions.missed(),
      drained: () => undefined,
      ended: (cause) => void this.close(cause),
      asked: (question) => this.#asked(question),
      said: (note) => tell(session, note),
    };
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(START_LIMIT_MS)]);
    const opened = await connect(spec, { events, signal, offer: choice.offer }).catch((error: unknown) =>
      err(startFailure(spec.name, error, log)),
    );
    if (!opened.ok) {
      this.#end(opened.error);
      return opened.error;
    }
    this.link = opened.value;
    if (this.#ending !== undefined) return this.#ending;
    void this.subscriptions.stood(opened.value, spec.timeoutMs);
    log.debug('a client has a link of its own', { server: spec.name, subject: choice.offer.subject });
    return undefined;
  }

  #asked(question: Parameters<Asker>[0]): void {
    const { session } = this.#options;
    if (this.link?.tiesQuestions !== true) this.#askers.asked(question);
    else if (session === undefined) refuseQuestion(question);
    else session.ask(question);
  }

  #end(cause: Cause): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause;
    this.subscriptions.gone();
    this.#options.onEnd();
  }
}

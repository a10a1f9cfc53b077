import { setTimeout as sleep } from 'node:timers/promises';
import type { Cancellation } from '../../core/cancellation.ts';
import { type Cause, toCauseJson, mapTexts } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import {
  INITIAL_STATE,
  isWorthWaiting,
  computeNextState,
  type DownState,
  type ServerState,
  type ServerEvent,
} from '../../core/supervision.ts';
import type { Era } from '../../protocol/eras.ts';
import type { Capabilities, Inventory, Link, LinkEvents, ListKind, OpenOptions } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import { notifySession, type SoleClient } from './client-session.ts';
import { PrivateLinks } from './private-links.ts';
import { RequestQueue } from './request-queue.ts';
import { ResourceSubscriptions } from './resource-subscriptions.ts';
import type { ServerDeps } from './server-deps.ts';
import { ServerInstructions } from './server-instructions.ts';
import { ServerLists, type ReadNews } from './server-lists.ts';
import { ServerRequestRouter, answerEmpty, EMPTY_CLIENT } from './server-request-router.ts';
import { DECLARED_ALONE, type ToolClaims } from './tool-claims.ts';
import { UpstreamLogLevel } from './upstream-log-level.ts';
import { reportStartFailure, toStopRefusal, findWaitRefusal } from './wait-refusal.ts';

/** Time limit in ms for a server to start and complete its handshake. */
const START_LIMIT_MS = 60_000;
/** If its lists take longer than this, in ms, a server becomes ready without them. They are shown when they arrive. */
const LISTS_LIMIT_MS = 5_000;

/** One upstream server. Keeps it running, and keeps its last known lists while it is down. */
export class Server {
  /** For client requests only; Assay's own bypass it. */
  readonly queue: RequestQueue;
  readonly lists: ServerLists;
  /** Claims about its tools, from the server and from operators. */
  readonly claims: ToolClaims;
  readonly privateLinks: PrivateLinks;
  /** The calls of the only client, in a single-client process. */
  readonly sole: ServerRequestRouter | undefined;
  readonly subscriptions: ResourceSubscriptions;
  readonly instructions: ServerInstructions;
  /** Number of restarts, not counting private links. */
  restarts = 0;
  #spec: ServerSpec;
  #state: ServerState = INITIAL_STATE;
  /** The usable link, and the one to close. They differ until the lists are read. */
  #link: Link | undefined;
  #opened: Link | undefined;
  #capabilities: Capabilities | undefined;
  #era: Era | undefined;
  readonly #logs = new UpstreamLogLevel(true);
  readonly #deps: ServerDeps;
  readonly #outages: OutageLog;
  readonly #listOutages: OutageLog;
  /** Whether the first lists after an earlier start waited for it in vain. */
  readonly #wasAbsent: boolean;
  readonly #stopping = new AbortController();
  readonly #news = new ChangeSignal();
  #running: Promise<void> | undefined;
  #endConnection: (cause: Cause) => void = () => undefined;
  #wake: () => void = () => undefined;

  constructor(spec: ServerSpec, deps: ServerDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.claims = deps.claims ?? DECLARED_ALONE;
    this.subscriptions = deps.subscriptions ?? new ResourceSubscriptions(spec.name, deps.log);
    const logged = { server: spec.name, log: deps.log, nowMs: () => performance.now() };
    this.#outages = new OutageLog(logged);
    this.#listOutages = new OutageLog(logged);
    const known = deps.memory.recall(spec);
    this.#wasAbsent = deps.memory.recallAbsence(spec);
    this.lists = new ServerLists({
      remembered: known?.inventory,
      timeoutMs: () => this.spec.timeoutMs,
      limits: deps.limits,
      isPaced: !getSourceKind(spec.transport).isCustom,
      prepareTool: (definition) => this.claims.prepare(this.spec, definition),
      onRead: (link, read) => this.#listRead(link, read),
      mask: deps.mask ?? ((text) => text),
      onFailed: (list, cause, retryMs) =>
        this.#listOutages.failed('a list could not be read', cause, { list, retryMs }),
    });
    this.instructions = new ServerInstructions(deps, known?.instructions);
    this.#capabilities = known?.capabilities;
    this.#era = known?.era;
    const unreadBytes = (): number => this.link?.unreadBytes ?? 0;
    this.queue = new RequestQueue({ server: spec.name, limits: deps.limits, unreadBytes });
    this.privateLinks = new PrivateLinks({ ...deps, spec: () => this.#spec });
    this.sole = deps.sole && new ServerRequestRouter(() => deps.sole?.sessionFor(this.spec));
  }

  get spec(): ServerSpec {
    return this.#spec;
  }

  /** Whether each subject signs in there separately. */
  get isPersonal(): boolean {
    return this.#deps.credentials?.isPersonal(this.#spec) ?? false;
  }

  get inventory(): Inventory {
    return this.lists.inventory;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The link of a server that is up. Synchronous, so that a call need not wait. */
  get link(): Link | undefined {
    return this.#link;
  }

  /** As last declared. Undefined if the server was never connected: it may then have any. */
  get capabilities(): Capabilities | undefined {
    return this.#capabilities;
  }

  get era(): Era | undefined {
    return this.#era;
  }

  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#run();
  }

  async stop(cause: Cause = { code: 'SHUTTING_DOWN' }): Promise<void> {
    this.#stopping.abort();
    this.#endConnection(cause);
    // Waiting requests fail now, not when the process is gone.
    this.queue.stop(toStopRefusal(this.spec.name, cause));
    this.#become({ kind: 'stopped', cause });
    await Promise.all([this.privateLinks.stop(cause), this.#running]);
  }

  /** Applies changes that need no new connection, such as limits and name prefixes. The transport must be the same. */
  adopt(spec: ServerSpec): void {
    this.#spec = spec;
    this.#opened?.adopt?.(spec);
    this.#deps.onChange();
  }

  /** Resolves after the first attempt to start, or once the list is known or (without `giveUp`) not to be expected. */
  async settled(list?: ListKind, giveUp?: AbortSignal): Promise<void> {
    const isAbsent = giveUp === undefined ? this.#wasAbsent : false;
    const isKnown = (): boolean => list !== undefined && (isAbsent || this.lists.isKnown(list));
    while (this.#state.state === 'starting' && !isKnown() && giveUp?.aborted !== true)
      await this.#news.next(giveUp);
  }

  /** The link, other than `butNot`. Waits while the server starts or restarts, at most for the server's time limit. */
  async waitUntilReady(cancellation: Cancellation, butNot?: Link): Promise<Result<Link, Refusal>> {
    return cancellation.within(this.spec.timeoutMs, (giveUp) => this.#readyLink(giveUp, butNot));
  }

  async #readyLink(giveUp: AbortSignal, butNot: Link | undefined): Promise<Result<Link, Refusal>> {
    for (;;) {
      const link = this.#link;
      if (link !== undefined && link !== butNot) return ok(link);
      const waiting = { isLate: giveUp.aborted, nowMs: performance.now() };
      const refusal = findWaitRefusal(this.spec.name, this.#state, waiting);
      if (refusal !== undefined) return err(refusal);
      this.#wake();
      await this.#news.next(giveUp);
    }
  }

  /** Ends the backoff early if it has lasted a while, because the server is needed. */
  wake(): void {
    if ('nextMs' in this.#state && isWorthWaiting(this.#state, performance.now())) this.#wake();
  }

  /** Ends the backoff at once, except before the first restart, which comes soon. Resolves when the attempt has ended. */
  async tryNow(): Promise<void> {
    const before = this.#state;
    this.#wake();
    while (this.#state === before && before.state !== 'up') await this.#news.next(undefined);
  }

  /** Sets the minimum level of log messages, now and after each restart. Resolves when the server was told. */
  requestLogLevel(level: string): Promise<void> | undefined {
    return this.#logs.request(level, this.#link);
  }

  async #run(): Promise<void> {
    for (;;) {
      const cause = await this.#runConnection();
      const closed = this.#close(cause);
      if (this.#stopping.signal.aborted) return closed;
      this.#become({ kind: 'ended', cause, nowMs: performance.now(), chance: this.#deps.chance() });
      const state = this.#state;
      if (!('nextMs' in state)) return closed;
      const nextStartMs = state.nextMs - state.endedMs;
      this.#outages.failed('server is down', cause, { state: state.state, nextStartMs });
      await Promise.all([closed, this.#backOff(state)]);
      this.restarts += 1;
    }
  }

  async #close(cause: Cause): Promise<void> {
    const link = this.#opened;
    this.#link = undefined;
    this.#opened = undefined;
    this.lists.forgetLink();
    await Promise.all([link?.close(cause), this.privateLinks.endTwins({ code: 'SERVER_GONE' })]);
  }

  /** A call that may wait for the server ends the backoff. */
  async #backOff(down: DownState): Promise<void> {
    const woken = new AbortController();
    if (down.state !== 'restarting') this.#wake = () => woken.abort();
    const signal = AbortSignal.any([this.#stopping.signal, woken.signal]);
    await sleep(down.nextMs - down.endedMs, undefined, { signal }).catch(() => undefined);
    this.#wake = () => undefined;
  }

  /** Runs one connection from start to end. Resolves with the cause of the end. */
  async #runConnection(): Promise<Cause> {
    const limit = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(START_LIMIT_MS)]);
    const end = Promise.withResolvers<Cause>();
    this.#endConnection = end.resolve;
    const other = createSharedLinkClient(this.spec, this.#deps.sole, this.sole);
    const events: LinkEvents = {
      changed: (kind) => this.lists.changed(kind),
      updated: (uri, note) => this.subscriptions.updated(uri, note),
      missed: () => {
        this.lists.missed();
        this.subscriptions.missed();
      },
      drained: () => this.queue.advance(),
      ended: end.resolve,
      ...other.events,
    };
    const opened = await this.#deps
      .connect(this.spec, { events, signal: limit, client: other.profile, isShared: other.isShared })
      .catch((error: unknown) => err(reportStartFailure(this.spec.name, error, this.#deps.log)));
    if (!opened.ok) return opened.error;
    const link = opened.value;
    this.#opened = link;
    // The entry may have changed meanwhile.
    link.adopt?.(this.#spec);
    // Tools can be called as soon as they are listed, which may be before the other lists are read.
    this.#capabilities = link.capabilities;
    this.#era = link.era;
    this.instructions.connected(this.#spec, link.instructions);
    const early = await Promise.race([
      this.lists.readFirst(link),
      sleep(LISTS_LIMIT_MS, undefined, { ref: false }),
      end.promise,
    ]);
    if (early === undefined) this.#stand(link);
    return end.promise;
  }

  #stand(link: Link): void {
    this.#link = link;
    this.#remember(link);
    this.#become({ kind: 'ready', nowMs: performance.now() });
    this.#outages.recovered('server is up', { revision: link.version, era: link.era });
    void this.#logs.renew(link);
    void this.subscriptions.linkReady(link, this.spec.timeoutMs);
  }

  /** Keeps the earlier snapshot if a list is missing. */
  #remember({ era, version, capabilities }: Link): void {
    if (!this.lists.isComplete) return;
    const { inventory, instructions } = this;
    const snapshot = { era, version, capabilities, instructions: instructions.declared?.text, inventory };
    this.#deps.memory.remember(this.spec, snapshot);
  }

  #listRead(link: Link, { list, isNews }: ReadNews): void {
    if (list === 'tools') this.#deps.onTools?.(this.#spec, this.inventory.tools, link);
    if (this.#link === link) this.#remember(link);
    if (this.#listOutages.isOpen && this.lists.isComplete)
      this.#listOutages.recovered('all lists could be read again');
    this.#news.notify();
    if (isNews) this.#deps.onChange();
  }

  #become(event: ServerEvent): void {
    const state = computeNextState(this.#state, event);
    if (state === this.#state) return;
    this.#state = state;
    if (state.state !== 'up') {
      this.#link = undefined;
      this.subscriptions.linkLost();
    }
    this.#deps.onChange();
    this.#news.notify();
    this.queue.advance();
  }
}

/** Wakes everyone waiting for a change. Waiters look up what changed themselves. */
class ChangeSignal {
  readonly #waiting = new Set<() => void>();

  notify(): void {
    for (const listener of [...this.#waiting]) listener();
  }

  /** Resolves at the next change, or when the signal is aborted. */
  next(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal?.addEventListener('abort', done);
    });
  }
}

interface OutageLogOptions {
  readonly server: string;
  readonly log: Log;
  readonly nowMs: () => number;
}

/** A cause that comes back after a recovery is logged again after this many ms. */
const REPEAT_AFTER_MS = 600_000;
/** An outage this long, in ms, is logged even if its cause was logged before. */
const LONG_OUTAGE_MS = 60_000;
/**
 * Maximum number of causes of one server that are logged as warnings until it recovers, or within `REPEAT_AFTER_MS`.
 */
const MAX_CAUSES = 8;

/**
 * Logs the failures of one server, or of one of its lists: each new cause once as a warning, repetitions at debug, and
 * the recovery once. A server that keeps failing therefore adds a few lines, however often it is retried.
 */
export class OutageLog {
  readonly #options: OutageLogOptions;
  /** When each cause was last logged as a warning. */
  readonly #loggedMs = new Map<string, number>();
  /** The current outage. */
  #sinceMs: number | undefined;
  #failures = 0;
  /** Whether the current outage was logged, so that its end is too. */
  #isLogged = false;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#sinceMs !== undefined;
  }

  failed(message: string, cause: Cause, fields: Readonly<Record<string, unknown>> = {}): void {
    const { server, log, nowMs } = this.#options;
    const now = nowMs();
    this.#sinceMs ??= now;
    this.#failures += 1;
    const all = { server, ...toCauseJson(cause), ...fields, failures: this.#failures };
    const key = causeKey(cause);
    const isKnown = this.#loggedMs.has(key) || this.#loggedMs.size >= MAX_CAUSES;
    const isLong = now - this.#sinceMs >= LONG_OUTAGE_MS;
    if (isKnown && (this.#isLogged || !isLong)) {
      log.debug(message, all);
      return;
    }
    this.#loggedMs.set(key, now);
    this.#isLogged = true;
    log.warn(message, all);
  }

  /** The server is up, or its list was read. */
  recovered(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const { server, log, nowMs } = this.#options;
    const now = nowMs();
    const outage = this.#sinceMs === undefined ? {} : { afterMs: Math.round(now - this.#sinceMs) };
    const isNews = this.#isLogged || this.#sinceMs === undefined;
    log[isNews ? 'info' : 'debug'](message, { server, ...fields, ...outage });
    this.#sinceMs = undefined;
    this.#failures = 0;
    this.#isLogged = false;
    for (const [key, loggedMs] of this.#loggedMs)
      if (now - loggedMs > REPEAT_AFTER_MS) this.#loggedMs.delete(key);
  }
}

/** Two failures have the same cause if they differ only in numbers within texts, such as times, ports and process ids. */
function causeKey(cause: Cause): string {
  const masked = mapTexts(cause, (text) => text.replace(/\b(?:0x)?[\da-f]*\d[\da-f-]*\b/gi, '#'));
  return JSON.stringify(masked);
}

/** The client that a server sees on its shared link. */
interface SharedLinkClient {
  readonly profile: OpenOptions['client'];
  readonly isShared: boolean;
  readonly events: Pick<LinkEvents, 'requested' | 'notified'>;
}

const NOBODY: SharedLinkClient = { profile: undefined, isShared: true, events: {} };
const LISTS: SharedLinkClient = {
  profile: EMPTY_CLIENT,
  isShared: true,
  events: { requested: answerEmpty },
};

/**
 * The only client of the process, if any. Otherwise no client: if each client has its own link, the shared one is only
 * for lists.
 */
function createSharedLinkClient(
  spec: ServerSpec,
  sole: SoleClient | undefined,
  router: ServerRequestRouter | undefined,
): SharedLinkClient {
  if (sole === undefined) return spec.isolation === 'session' ? LISTS : NOBODY;
  // Modern clients receive no notifications outside their requests.
  return {
    profile: sole.profile,
    isShared: false,
    events: { requested: router?.handle, notified: (note) => notifySession(sole.sessionFor(spec), note) },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../core/server-spec.ts';
import { getSourceKind, startsProcess } from '../../core/sources/source-kinds.ts';
import {
  INITIAL_STATE,
  isWorthWaiting,
  computeIdleStopMs,
  computeNextState,
  type DownState,
  type ServerState,
  type ServerEvent,
  type ServerUsage,
} from '../../core/supervision.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import type { Capabilities, Inventory, Link, LinkEvents, ListKind } from '../ports/link.ts';
import { ChangeSignal } from './change-signal.ts';
import { labelSession } from './client-session.ts';
import { PrivateLinks } from './private-links.ts';
import { RequestQueue } from './request-queue.ts';
import { ResourceSubscriptions } from './resource-subscriptions.ts';
import { OutageLog } from './outage-log.ts';
import type { ServerDeps } from './server-deps.ts';
import { ServerInstructions } from './server-instructions.ts';
import { ServerLists, type ReadNews } from './server-lists.ts';
import { ServerRequestRouter } from './server-request-router.ts';
import { createSharedLinkClient } from './shared-link-client.ts';
import { ServerUse } from './server-use.ts';
import { SharedRequests } from './shared-requests.ts';
import { DECLARED_ALONE, type ToolClaims } from './tool-claims.ts';
import type { LimitedStart } from './start-limiter.ts';
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
  /** What a process shared by attached clients requests of its client. Undefined if it can have none of these. */
  readonly sharedRequests: SharedRequests | undefined;
  readonly subscriptions: ResourceSubscriptions;
  readonly instructions: ServerInstructions;
  readonly use: ServerUse = new ServerUse();
  /** Number of restarts, not counting private links. */
  restarts = 0;
  #spec: ServerSpec;
  #state: ServerState = INITIAL_STATE;
  /** The usable link, and the one to close. They differ until the lists are read. */
  #link: Link | undefined;
  #opened: Link | undefined;
  /** The end of the process of the last failed attempt. */
  #ending: Promise<void> | undefined;
  /** The start of its process, until that is ready. */
  #start: LimitedStart | undefined;
  /** The number of requests that wait for it. */
  #waiters = 0;
  #capabilities: Capabilities | undefined;
  #era: Era | undefined;
  #asksClient: boolean;
  readonly #logs = new UpstreamLogLevel(true);
  readonly #deps: ServerDeps;
  readonly #outages: OutageLog;
  readonly #listOutages: OutageLog;
  /** Whether the first lists after an earlier start waited for it in vain. */
  readonly #wasAbsent: boolean;
  readonly #stopping = new AbortController();
  readonly #news = new ChangeSignal();
  #running: Promise<void> | undefined;
  #idleCheck: NodeJS.Timeout | undefined;
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
    this.#asksClient = known?.asksClient ?? false;
    const unreadBytes = (): number => this.link?.unreadBytes ?? 0;
    this.queue = new RequestQueue({ server: spec.name, limits: deps.limits, unreadBytes });
    this.privateLinks = new PrivateLinks({ ...deps, spec: () => this.#spec });
    this.sole = deps.sole && new ServerRequestRouter(() => deps.sole?.sessionFor(this.spec));
    if (deps.hasAttached !== undefined && spec.isolation === 'shared' && startsProcess(spec.transport))
      this.sharedRequests = new SharedRequests(
        () => this.#asked(),
        (session) => labelSession(session, this.spec, deps.addLabels),
      );
  }

  get spec(): ServerSpec {
    return this.#spec;
  }

  /** Whether an operator has stopped it, so that nothing is sent to it. */
  get isStopped(): boolean {
    return this.#deps.policy?.findStop?.(this.spec.name) !== undefined;
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

  get asksClient(): boolean {
    return this.#asksClient;
  }

  /** Whether its process must not end now: a client uses it, or has something open there. */
  get isBusy(): boolean {
    const { use, queue, subscriptions, privateLinks } = this;
    const isQueued = queue.inFlight > 0 || queue.waiting > 0;
    return use.isInUse || isQueued || !subscriptions.isEmpty || privateLinks.areInUse;
  }

  /** Whether it is idle, or starts for a request after that. Its lists may have changed since they were read. */
  get isAsleep(): boolean {
    const { state } = this.#state;
    return state === 'idle' || (state === 'starting' && this.#state.isWoken === true);
  }

  /** Whether it may be without a process while nothing needs it. */
  get #isOnDemand(): boolean {
    const { transport, keepAlive = false } = this.#spec;
    return (this.#deps.idleMs ?? 0) > 0 && !keepAlive && startsProcess(transport);
  }

  /** Starts it now, also if it is idle. */
  start(): void {
    if (this.#stopping.signal.aborted) return;
    this.#become({ kind: 'needed' });
    this.#running ??= this.#run();
  }

  /**
   * Starts it now, unless it can wait for a request: because its lists are known, or because nobody asks for them
   * (`needsLists` is false).
   */
  startWhenNeeded(needsLists: boolean): void {
    const canWait = this.#isOnDemand && (!needsLists || this.lists.isComplete);
    if (canWait && this.#running === undefined) {
      this.#state = computeNextState(this.#state, { kind: 'unneeded', lost: undefined });
      this.#news.notify();
    } else this.start();
  }

  /** Starts an idle server if a list of it was never read. */
  startToList(list: ListKind): void {
    if (this.#state.state === 'idle' && !this.lists.isKnown(list)) this.start();
  }

  async stop(cause: Cause = { code: 'SHUTTING_DOWN' }): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#idleCheck);
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
    if (this.#isOnDemand) this.#checkIdleLater();
    else if (this.#state.state === 'idle') this.start();
    this.#deps.onChange();
  }

  /** Resolves after the first attempt to start, or once the list is known or (without `giveUp`) not to be expected. */
  async settled(list?: ListKind, giveUp?: AbortSignal): Promise<void> {
    const isAbsent = giveUp === undefined ? this.#wasAbsent : false;
    const isKnown = (): boolean => list !== undefined && (isAbsent || this.lists.isKnown(list));
    while (this.#state.state === 'starting' && !isKnown() && giveUp?.aborted !== true)
      await this.#news.next(giveUp);
  }

  /** Resolves when its process may be started, which may have to wait for others to be ready. */
  async waitForStartSlot(giveUp: AbortSignal): Promise<void> {
    while (this.#start?.isQueued === true && !giveUp.aborted) await this.#news.next(giveUp);
  }

  /** Starts the server if it is idle. The link, once the list of tools was read from its process. */
  async waitUntilListed(cancellation: Cancellation): Promise<Result<Link, Refusal>> {
    return cancellation.within(this.spec.timeoutMs, async (giveUp) => {
      const ready = await this.#readyLink(giveUp, undefined);
      while (ready.ok && this.#link === ready.value && !this.lists.isCurrent('tools') && !giveUp.aborted)
        await this.#news.next(giveUp);
      return ready;
    });
  }

  /** The link, other than `butNot`. Waits while the server starts or restarts, at most for the server's time limit. */
  async waitUntilReady(cancellation: Cancellation, butNot?: Link): Promise<Result<Link, Refusal>> {
    return cancellation.within(this.spec.timeoutMs, (giveUp) => this.#readyLink(giveUp, butNot));
  }

  async #readyLink(giveUp: AbortSignal, butNot: Link | undefined): Promise<Result<Link, Refusal>> {
    this.#waiters += 1;
    try {
      return await this.#nextLink(giveUp, butNot);
    } finally {
      this.#waiters -= 1;
    }
  }

  async #nextLink(giveUp: AbortSignal, butNot: Link | undefined): Promise<Result<Link, Refusal>> {
    for (;;) {
      const link = this.#link;
      if (link !== undefined && link !== butNot) return ok(link);
      const waiting = { isLate: giveUp.aborted, nowMs: performance.now() };
      const refusal = findWaitRefusal(this.spec.name, this.#state, waiting);
      if (refusal !== undefined) return err(refusal);
      if (this.#state.state === 'idle') this.start();
      this.#wake();
      this.#start?.prioritize();
      await this.#news.next(giveUp);
    }
  }

  /** Ends the backoff early if it has lasted a while, because the server is needed. */
  wake(): void {
    if ('nextMs' in this.#state && isWorthWaiting(this.#state, performance.now())) this.#wake();
  }

  /** Ends the backoff at once, except before the first restart, which comes soon. Resolves when the attempt has ended. */
  async tryNow(): Promise<void> {
    if (this.#state.state === 'idle') {
      this.start();
      return this.settled();
    }
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
      if (cause.code === 'LINK_IDLE') {
        // The next process starts when this one is gone: it may hold a port or a lock.
        await closed;
        if (this.#state.state !== 'idle') continue;
        this.#running = undefined;
        return;
      }
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
    // A process that was stopped for lack of use is no reason to read the lists of the next one later.
    if (cause.code === 'LINK_IDLE') this.lists.forgetPace();
    await Promise.all([
      link?.close(cause),
      this.#ending,
      this.privateLinks.endTwins({ code: 'SERVER_GONE' }),
    ]);
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
    if (this.#stopping.signal.aborted) return { code: 'LINK_CLOSED' };
    const start = startsProcess(this.spec.transport)
      ? this.#deps.starts?.enter(this.#waiters > 0)
      : undefined;
    this.#start = start;
    try {
      if (start?.turn !== undefined && !(await this.#waitForTurn(start.turn))) return { code: 'LINK_CLOSED' };
      return await this.#connect(start);
    } finally {
      start?.end();
    }
  }

  /** False if it is stopped before. */
  async #waitForTurn(turn: Promise<void>): Promise<boolean> {
    const { signal } = this.#stopping;
    const stopped = Promise.withResolvers<undefined>();
    const stop = (): void => stopped.resolve(undefined);
    signal.addEventListener('abort', stop);
    await Promise.race([turn, stopped.promise]);
    signal.removeEventListener('abort', stop);
    this.#news.notify();
    return !signal.aborted;
  }

  async #connect(start: LimitedStart | undefined): Promise<Cause> {
    const limit = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(START_LIMIT_MS)]);
    const end = Promise.withResolvers<Cause>();
    this.#endConnection = end.resolve;
    this.sharedRequests?.restart(this.#deps.hasAttached?.() === true);
    const other = createSharedLinkClient(this.spec, this.#deps.sole, {
      ...{ sole: this.sole, sharedRequests: this.sharedRequests, policy: this.#deps.policy },
    });
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
      .connect(this.spec, {
        ...{ events, signal: limit, client: other.profile, isShared: other.isShared },
        onEnding: (ended) => {
          this.#ending = ended;
        },
      })
      .catch((error: unknown) => err(reportStartFailure(this.spec.name, error, this.#deps.log)));
    start?.end();
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
    this.use.restarted();
    this.#checkIdleLater();
    void this.#logs.renew(link);
    void this.subscriptions.linkReady(link, this.spec.timeoutMs);
  }

  /** Stops the server when it is due, if it is not in use then. */
  #checkIdleLater(): void {
    clearTimeout(this.#idleCheck);
    if (this.#state.state !== 'up' || !this.#isOnDemand) return;
    const waitMs = this.isBusy ? this.#idleMs : computeIdleStopMs(this.#usage, performance.now());
    this.#idleCheck = setTimeout(() => this.#stopIfIdle(), Math.max(waitMs, 1)).unref();
  }

  #stopIfIdle(): void {
    // A server whose lists are not known has to run: they are read again until they are.
    const isNeeded = this.isBusy || !this.lists.isComplete;
    if (isNeeded) this.use.lastUsedMs = performance.now();
    const nowMs = performance.now();
    if (isNeeded || computeIdleStopMs(this.#usage, nowMs) > 0) return this.#checkIdleLater();
    const { keptState: lost, lastUsedMs } = this.#usage;
    const unusedMs = Math.round(nowMs - lastUsedMs);
    const kept = lost === undefined ? ', and' : '. What it kept in memory is lost, and';
    const message = `server is idle: its process was stopped, as it was not used${kept} the next call starts it`;
    this.#deps.log.info(message, { server: this.spec.name, unusedMs, ...(lost && { keptState: lost }) });
    this.#become({ kind: 'unneeded', lost });
    this.#endConnection({ code: 'LINK_IDLE' });
  }

  get #idleMs(): number {
    return this.#deps.idleMs ?? 0;
  }

  get #usage(): ServerUsage {
    const isObserved = this.claims.statefulOf(this.#spec, this.inventory.tools).length > 0;
    const { lastUsedMs } = this.use;
    return { idleMs: this.#idleMs, lastUsedMs, keptState: this.use.keptState(isObserved) };
  }

  /** Keeps the earlier snapshot if a list is missing. */
  #remember({ era, version, capabilities }: Link): void {
    if (!this.lists.isComplete) return;
    const { inventory, instructions, asksClient } = this;
    const { text } = instructions.declared ?? {};
    const snapshot = { era, version, capabilities, inventory, asksClient, instructions: text };
    this.#deps.memory.remember(this.spec, snapshot);
  }

  /** Its shared process has requested something of its client. */
  #asked(): void {
    if (this.#asksClient) return;
    this.#asksClient = true;
    if (this.#link !== undefined) this.#remember(this.#link);
    const why = 'it makes requests of its client, so each attached client gets a process of its own';
    this.#deps.log.info(why, { server: this.spec.name });
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
      clearTimeout(this.#idleCheck);
      this.subscriptions.linkLost();
    }
    this.#deps.onChange();
    this.#news.notify();
    this.queue.advance();
  }
}

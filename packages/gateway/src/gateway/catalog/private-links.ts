import { computeBackoffMs } from '@assay-mcp/kit/backoff';
import type { Cause } from '../../core/cause.ts';
import { countBySubject, chooseEviction } from '../../core/fair-share.ts';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { TWIN_RIGHTS } from '@assay-mcp/sandbox/rights';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Settings } from '../../core/settings.ts';
import { computeIdleStopMs } from '../../core/supervision.ts';
import { getSourceKind, startsProcess } from '../../core/sources/source-kinds.ts';
import type { Connect, Link, UpstreamRequest } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import { type LinkChoice, toTwinKey } from './link-choice.ts';
import { PrivateLink, START_LIMIT_MS, type PrivateLinkRequest } from './private-link.ts';
import { ResourceSubscriptions } from './resource-subscriptions.ts';
import type { AddLabels } from './server-labels.ts';
import type { StopSource } from './server-request-router.ts';
import type { StartLimiter } from './start-limiter.ts';
import type { TwinDenials } from './twin-denials.ts';

export interface PrivateLinksDeps {
  readonly spec: () => ServerSpec;
  readonly connect: Connect;
  readonly log: Log;
  readonly denials?: TwinDenials | undefined;
  readonly addLabels?: AddLabels | undefined;
  readonly policy?: StopSource | undefined;
  readonly starts?: StartLimiter | undefined;
  /** The setting `servers.idleMs`. */
  readonly idleMs?: number | undefined;
  readonly limits: Pick<Settings, 'limits.processesPerServer'> &
    Partial<Pick<FixedLimits, 'linksPerServer' | 'idleLinkMs'>>;
}

/** How long a call waits for its link. */
export type Patience = Pick<UpstreamRequest, 'timeoutMs' | 'cancellation'>;

/** A request for a link that outlasts one call. */
interface LastingLinkRequest extends PrivateLinkRequest {
  readonly choice: Extract<LinkChoice, { kind: 'own' }>;
}

/** Subscriptions of a client outlast the links that serve them. */
interface Kept {
  readonly subscriptions: ResourceSubscriptions;
  readonly request: LastingLinkRequest;
}

/** Delay in ms before a broken link with subscriptions is reopened. Doubles up to the maximum. */
const REOPEN_MS = 1_000;
const MAX_REOPEN_MS = 60_000;

/** The links of one server that belong to one client each: opened on demand, closed with their client. */
export class PrivateLinks {
  readonly #deps: PrivateLinksDeps;
  readonly #byKey = new Map<string, PrivateLink>();
  readonly #kept = new Map<string, Kept>();
  readonly #all = new Set<PrivateLink>();
  /** Links that have ended but whose process may still run. */
  readonly #closing = new Set<Promise<void>>();
  #sweeping: NodeJS.Timeout | undefined;
  #stopped: Cause | undefined;

  constructor(deps: PrivateLinksDeps) {
    this.#deps = deps;
  }

  /** Finds out what the sandboxes of twins refused. */
  get denials(): TwinDenials | undefined {
    return this.#deps.denials;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Whether a client has a link of its own or a subscription, or uses a twin. */
  get areInUse(): boolean {
    const isSubscribed = [...this.#kept.values()].some(({ subscriptions }) => !subscriptions.isEmpty);
    return isSubscribed || [...this.#all].some(({ isTwin, isIdle }) => !isTwin || !isIdle);
  }

  /**
   * Returns the link for a request, and opens it if needed. The caller must call `release` once. Errors:
   * SERVER_UNREACHED, SERVER_BUSY, AUTHORIZATION_NEEDED; SERVER_UNAVAILABLE if it is not ready in time; CANCELLED.
   */
  async take(
    request: PrivateLinkRequest,
    patience: Patience,
    vain = 0,
  ): Promise<Result<PrivateLink, Refusal>> {
    const { choice } = request;
    const started = await this.#startsForSession(request);
    if (started?.ok === false) return started;
    const known = choice.kind === 'own' ? this.#byKey.get(choice.key) : undefined;
    const link =
      known?.isTaken === true
        ? this.#make(toSingleUseRequest(request), vain)
        : (known ?? this.#make(request, vain));
    if (link === undefined) return err(this.#full());
    link.hold();
    if (link.link !== undefined) return ok(link);
    const server = this.#deps.spec().name;
    const opened = await Promise.race([link.opened, waitForLimit(patience, link.opened)]);
    if (opened === undefined) return ok(link);
    link.release();
    if ('code' in opened) return err(refusalOf(opened, server));
    return err(
      opened.isLate
        ? { code: 'SERVER_UNAVAILABLE', server, cause: { code: 'SERVER_NOT_READY' } }
        : { code: 'CANCELLED' },
    );
  }

  /** Undefined if the process runs already, or keeps nothing for a session. */
  #startsForSession({
    choice,
    session,
  }: PrivateLinkRequest): Promise<Result<undefined, Refusal>> | undefined {
    if (choice.kind !== 'own' || this.#byKey.has(choice.key)) return undefined;
    const { name, isolation, transport } = this.#deps.spec();
    const keepsState = isolation === 'session' && this.#startsProcess && !getSourceKind(transport).isConfined;
    return keepsState ? session?.startProcess?.(name) : undefined;
  }

  /** The client's open link, if any. */
  find(key: string): Link | undefined {
    return this.#byKey.get(key)?.link;
  }

  /** Undefined if the client has no link: the level is then sent with its first call. */
  requestLogLevel(key: string, level: string): Promise<void> | undefined {
    const link = this.#byKey.get(key);
    return link && (link.requestLogLevel(level) ?? Promise.resolve());
  }

  /** Closes what was opened for a client that is gone. */
  end(key: string, cause: Cause): void {
    for (const one of listKeys(key)) {
      this.#kept.delete(one);
      void this.#byKey.get(one)?.close(cause);
    }
  }

  /** The same, but what a suspended call uses is closed after it: its client may answer on another connection. */
  closeWhenUnused(key: string, cause: Cause): void {
    for (const one of listKeys(key)) {
      this.#kept.delete(one);
      const link = this.#byKey.get(one);
      this.#byKey.delete(one);
      link?.closeWhenUnused(cause);
    }
  }

  /** Closes the twins of a server that has ended. */
  async endTwins(cause: Cause): Promise<void> {
    const twins = [...this.#all].filter(({ isTwin }) => isTwin);
    await Promise.all(twins.map((link) => link.close(cause)));
  }

  async stop(cause: Cause): Promise<void> {
    this.#stopped = cause;
    await Promise.all([...[...this.#all].map((link) => link.close(cause)), ...this.#closing]);
  }

  /** Takes over the subscriptions of the server that this one replaces. */
  takeOver(old: PrivateLinks): void {
    for (const [key, kept] of old.#kept) {
      if (kept.subscriptions.isEmpty) continue;
      this.#kept.set(key, kept);
      this.#reopenLater(kept.request, 0);
    }
  }

  #make(request: PrivateLinkRequest, vain: number): PrivateLink | undefined {
    if (this.#stopped !== undefined) return undefined;
    const max = this.#max();
    // Processes that are still ending count, too: a client could fill the machine with them by reconnecting.
    if (this.#closing.size >= max) return undefined;
    if (this.#all.size >= max && !this.#evictFor(request)) return undefined;
    const { connect, log, denials, addLabels, policy, starts } = this.#deps;
    const { choice } = request;
    const spec = (choice.kind === 'own' ? choice.spec : undefined) ?? this.#deps.spec();
    const lasting = isLasting(request) ? request : undefined;
    const subscriptions = this.#subscriptionsFor(lasting);
    const onEnd = (closed: Promise<void>): void => {
      this.#all.delete(link);
      this.#closing.add(closed);
      void closed.then(() => this.#closing.delete(closed));
      if (this.#all.size === 0) clearInterval(this.#sweeping);
      if (lasting !== undefined && this.#byKey.get(lasting.choice.key) === link)
        this.#lost(lasting, link.link === undefined ? vain + 1 : 0);
    };
    const link: PrivateLink = new PrivateLink({
      spec,
      connect,
      log,
      denials,
      addLabels,
      policy,
      starts: this.#startsProcess ? starts : undefined,
      ...request,
      subscriptions,
      onEnd,
    });
    if (this.#all.size === 0) this.#sweep();
    this.#all.add(link);
    if (lasting !== undefined) this.#byKey.set(lasting.choice.key, link);
    return link;
  }

  #subscriptionsFor(request: LastingLinkRequest | undefined): ResourceSubscriptions {
    const { spec, log } = this.#deps;
    if (request === undefined) return new ResourceSubscriptions(spec().name, log);
    const { key } = request.choice;
    const kept = this.#kept.get(key) ?? {
      request,
      subscriptions: new ResourceSubscriptions(spec().name, log),
    };
    this.#kept.set(key, kept);
    return kept.subscriptions;
  }

  /**
   * Handles the end of a link. A client that only listens for updates would never request it again, so it is reopened.
   */
  #lost(request: LastingLinkRequest, vain: number): void {
    const { key } = request.choice;
    this.#byKey.delete(key);
    if (this.#stopped === undefined && this.#kept.get(key)?.subscriptions.isEmpty === false)
      this.#reopenLater(request, vain);
    else this.#kept.delete(key);
  }

  #reopenLater(request: LastingLinkRequest, vain: number): void {
    const waitMs = computeBackoffMs(vain + 1, { firstMs: REOPEN_MS, maxMs: MAX_REOPEN_MS });
    setTimeout(() => void this.#reopen(request, vain), waitMs).unref();
  }

  /** Skipped if the client has disconnected or unsubscribed meanwhile. */
  async #reopen(request: LastingLinkRequest, vain: number): Promise<void> {
    const { key } = request.choice;
    const wanted = this.#kept.get(key);
    if (wanted === undefined || this.#byKey.has(key) || this.#stopped !== undefined) return;
    if (wanted.subscriptions.isEmpty) {
      this.#kept.delete(key);
      return;
    }
    const patience = { timeoutMs: START_LIMIT_MS, cancellation: undefined };
    const taken = await this.take(request, patience, vain);
    if (taken.ok) taken.value.release();
    else if (taken.error.code === 'SERVER_BUSY') this.#reopenLater(request, vain + 1);
  }

  #max(): number {
    const { limits } = this.#deps;
    const { 'limits.processesPerServer': processes, linksPerServer = FIXED_LIMITS.linksPerServer } = limits;
    return this.#startsProcess ? processes : linksPerServer;
  }

  /**
   * Closes the longest idle link of the subject with the most links. False if all of that subject's links are in use.
   */
  #evictFor({ choice }: PrivateLinkRequest): boolean {
    const { subject, mayEvictInUse: mayBeInUse } = chooseEviction(
      countBySubject(this.#all),
      choice.profile.subject,
    );
    const theirs = [...this.#all].filter((link) => link.subject === subject);
    const idle = theirs.filter(({ isIdle }) => isIdle);
    const oldest = (idle.length > 0 || !mayBeInUse ? idle : theirs).reduce<PrivateLink | undefined>(
      (a, b) => (a === undefined || b.lastUsedMs < a.lastUsedMs ? b : a),
      undefined,
    );
    void oldest?.close({ code: 'LINK_REPLACED' });
    return oldest !== undefined;
  }

  /** Whether it was not used for so long that its client is taken to be gone. */
  #isExpired(link: PrivateLink, nowMs: number): boolean {
    const { idleMs = 0, limits } = this.#deps;
    if (!link.isIdle || (link.hasSession && !link.isTwin)) return false;
    if (link.keepsState)
      return computeIdleStopMs({ idleMs, lastUsedMs: link.lastUsedMs, keptState: 'possible' }, nowMs) === 0;
    return link.lastUsedMs < nowMs - (limits.idleLinkMs ?? FIXED_LIMITS.idleLinkMs);
  }

  /** A modern client never announces that it is gone. */
  #sweep(): void {
    const { idleLinkMs: idleMs = FIXED_LIMITS.idleLinkMs } = this.#deps.limits;
    this.#sweeping = setInterval(() => {
      const nowMs = performance.now();
      for (const link of this.#all) if (this.#isExpired(link, nowMs)) void link.close({ code: 'LINK_IDLE' });
    }, idleMs).unref();
  }

  #full(): Refusal {
    const server = this.#deps.spec().name;
    if (this.#stopped !== undefined) return { code: 'SERVER_UNAVAILABLE', server, cause: this.#stopped };
    const setting = this.#startsProcess ? 'limits.processesPerServer' : undefined;
    return { code: 'SERVER_BUSY', server, cause: { code: 'LINK_LIMIT', clients: this.#all.size, setting } };
  }

  get #startsProcess(): boolean {
    return startsProcess(this.#deps.spec().transport);
  }
}

/** The request for a link of its own, beside one that is taken. */
function toSingleUseRequest(request: PrivateLinkRequest): PrivateLinkRequest {
  const { profile, rights } = request.choice;
  return { ...request, choice: { kind: 'once', profile, ...(rights && { rights }) } };
}

/** The keys of a client's own link and of its twins. */
function listKeys(key: string): readonly string[] {
  return [key, ...TWIN_RIGHTS.map((rights) => toTwinKey(rights, key))];
}

function isLasting(request: PrivateLinkRequest): request is LastingLinkRequest {
  return request.choice.kind === 'own';
}

function refusalOf(cause: Cause, server: string): Refusal {
  if (cause.code === 'SANDBOX_UNAVAILABLE') return { ...cause, server };
  return cause.code === 'SIGN_IN_NEEDED'
    ? { ...cause, code: 'AUTHORIZATION_NEEDED' }
    : { code: 'SERVER_UNREACHED', server, cause };
}

/** Resolves on timeout or cancellation, unless the other promise settles first. */
export function waitForLimit(
  { timeoutMs, cancellation }: Patience,
  settled: Promise<unknown>,
): Promise<{ readonly isLate: boolean }> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ isLate: true }), timeoutMs);
    const cancelled = (): void => resolve({ isLate: false });
    if (cancellation?.isCancelled === true) cancelled();
    cancellation?.addListener(cancelled);
    void settled.then(() => {
      clearTimeout(timer);
      cancellation?.removeListener(cancelled);
    });
  });
}

import type { ServerResponse } from 'node:http';
import { countBySubject, chooseEviction } from '../../core/fair-share.ts';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Holder } from '../../core/subject.ts';
import type { Settings } from '../../core/settings.ts';
import type { ClientSession } from '../../gateway/catalog/client-session.ts';
import type { ListKind, ClientProfile, ServerRequest } from '../../gateway/ports/link.ts';
import type { ClientSubscriptions } from '../../gateway/relay/client-subscriptions.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { NotificationMessage } from '@assay-mcp/protocol/message';
import { ClientLoad, type ClientLimits } from './client-load.ts';
import { wantsLog } from './handle-request.ts';
import type { Caller, Relay } from '../../gateway/relay/call.ts';
import { InFlight } from './in-flight.ts';
import { LIST_CHANGED } from './legacy-rules.ts';
import { createLegacySubscriptions } from './legacy-subscriptions.ts';
import { ForwardedRequests, type Send } from './forwarded-requests.ts';
import { ReplaySpace } from './replay.ts';
import { SessionStreams } from './session-streams.ts';

export interface SessionOptions {
  readonly relay: Relay;
  readonly view: View;
  readonly version: string;
  readonly profile: ClientProfile;
  readonly holder: Holder;
}

/** One legacy client: its handshake, open requests and streams. */
export class Session implements Caller, ClientSession {
  readonly id: string = crypto.randomUUID();
  readonly era = 'legacy';
  readonly relay: Relay;
  readonly view: View;
  /** The view of its endpoint. Clients may see different parts of it. */
  readonly endpoint: View;
  readonly subject: string;
  /** A request with another token does not find the session. */
  readonly holder: Holder;
  readonly version: string;
  readonly clientInfo: string | undefined;
  readonly profile: ClientProfile;
  readonly forwarded: ForwardedRequests;
  readonly inFlight: InFlight = new InFlight();
  readonly streams: SessionStreams;
  readonly subscriptions: ClientSubscriptions;
  /** Maximum number of requests in progress. */
  readonly limit: number;
  readonly #load: ClientLoad;
  logLevel: string | undefined;
  lastUsedMs: number = performance.now();
  readonly #unsubscribe: () => void;

  constructor(
    { relay, view: endpoint, version, profile, holder }: SessionOptions,
    limits: SessionLimits,
    space: ReplaySpace,
  ) {
    this.#load = new ClientLoad(limits);
    this.limit = this.#load.limit;
    this.relay = relay;
    this.endpoint = endpoint;
    this.view = endpoint.forClient(() => this.id).forCaller(profile.subject, { isLasting: true });
    const { view } = this;
    this.subject = profile.subject;
    this.holder = holder;
    this.version = version;
    this.clientInfo = profile.clientInfo;
    this.profile = profile;
    const { capabilities } = profile;
    this.forwarded = new ForwardedRequests({ capabilities, limitMs: limits['limits.questionMs'] });
    const { unreadBytes: maxUnreadBytes = FIXED_LIMITS.unreadBytes } = limits;
    const allChanged = (): readonly string[] =>
      CHANGEABLE.filter((kind) => view.has(kind)).map((kind) => LIST_CHANGED[kind]);
    const replay = space.open(holder.subject);
    this.streams = new SessionStreams({ version, replay, maxUnreadBytes, allChanged });
    this.#unsubscribe = view.onChange((kinds) => this.#changed(kinds));
    const { quota } = this.#load;
    this.subscriptions = createLegacySubscriptions({ relay, view, quota, session: this }, (...told) =>
      this.streams.sendLatest(...told),
    );
  }

  get session(): this {
    return this;
  }

  /** Uses the stream of a request if possible, else the session's own. */
  readonly ask = (serverRequest: ServerRequest, first?: Send): void => {
    this.forwarded.ask(serverRequest, (bytes) => first?.(bytes) === true || this.send(bytes));
  };

  notify(note: NotificationMessage): void {
    if (note.method !== 'notifications/message' || wantsLog(note, 'legacy', this.logLevel))
      this.send(note.bytes);
  }

  /** Sends a message that belongs to no request, on exactly one stream. Returns false if it cannot be delivered. */
  send(bytes: Buffer): boolean {
    return this.streams.send(bytes);
  }

  get isIdle(): boolean {
    return this.inFlight.size === 0 && !this.streams.isConnected;
  }

  /**
   * Takes slots for requests. In this era, disconnecting does not cancel a request, so it continues and keeps its slot.
   */
  take(response: ServerResponse, wanted: number): number {
    return this.#load.take(response, Math.min(wanted, this.limit - this.inFlight.size));
  }

  /** Call only from `Sessions.end`. */
  end(): void {
    this.#unsubscribe();
    this.subscriptions.end();
    this.inFlight.cancelAll();
    this.forwarded.end();
    this.view.forget(this.id);
    this.streams.close();
  }

  #changed(kinds: readonly ListKind[]): void {
    for (const method of new Set(kinds.map((kind) => LIST_CHANGED[kind]))) this.streams.sendAlways(method);
  }
}

/** The lists whose changes have their own notification; resource templates share that of resources. */
const CHANGEABLE: readonly ListKind[] = ['tools', 'prompts', 'resources'];

export type SessionLimits = Pick<Settings, 'limits.sessions' | 'limits.sessionIdleMs' | 'limits.questionMs'> &
  Partial<Pick<FixedLimits, 'unreadBytes' | 'replayBytes'>> &
  ClientLimits;

/** All legacy sessions. At the limit, the subject with the most sessions loses its oldest idle one. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #limits: SessionLimits;
  readonly #space: ReplaySpace;
  /** Called once for each session after it has ended for any reason. */
  onEnd: ((session: Session) => void) | undefined;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
    this.#space = new ReplaySpace(limits.replayBytes ?? FIXED_LIMITS.replayBytes);
  }

  get size(): number {
    return this.#sessions.size;
  }

  get all(): Iterable<Session> {
    return this.#sessions.values();
  }

  /** Undefined if all sessions are in use and no other subject has more of them. */
  begin(options: SessionOptions): Session | undefined {
    if (this.#sessions.size >= this.#limits['limits.sessions'] && !this.#evictFor(options.holder.subject))
      return undefined;
    const session = new Session(options, this.#limits, this.#space);
    this.#sessions.set(session.id, session);
    return session;
  }

  find(id: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session !== undefined) session.lastUsedMs = performance.now();
    return session;
  }

  #evictFor(asking: string): boolean {
    const all = [...this.#sessions.values()];
    const { subject, mayEvictInUse: mayBeInUse } = chooseEviction(countBySubject(all), asking);
    const theirs = all.filter((session) => session.subject === subject);
    const idle = theirs.filter((session) => session.isIdle);
    const candidates = idle.length > 0 || !mayBeInUse ? idle : theirs;
    const oldest = candidates.reduce<Session | undefined>(
      (a, b) => (a === undefined || b.lastUsedMs < a.lastUsedMs ? b : a),
      undefined,
    );
    if (oldest !== undefined) this.end(oldest);
    return oldest !== undefined;
  }

  /** The only place where a session ends: cancels its requests and closes its streams. */
  end(session: Session): void {
    if (!this.#sessions.delete(session.id)) return;
    session.end();
    this.onEnd?.(session);
  }

  /** Ends sessions whose token is no longer valid. */
  endOthers(isHolder: (holder: Holder) => boolean): void {
    for (const session of this.#sessions.values()) if (!isHolder(session.holder)) this.end(session);
  }

  /** Ends sessions that were idle for too long, and drops streams that are no longer needed. */
  sweep(nowMs: number): void {
    for (const session of this.#sessions.values()) {
      session.streams.sweep(nowMs);
      if (!session.isIdle) session.lastUsedMs = nowMs;
      else if (nowMs - session.lastUsedMs > this.#limits['limits.sessionIdleMs']) this.end(session);
    }
  }

  endAll(): void {
    for (const session of this.#sessions.values()) this.end(session);
  }
}

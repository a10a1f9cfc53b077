import type { ServerResponse } from 'node:http';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Holder } from '../../core/subject.ts';
import { toRpcError } from '../../core/errors.ts';
import { computeShortHash } from '@assay-mcp/kit/digest';
import { parseJson } from '@assay-mcp/kit/json-object';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Settings } from '../../core/settings.ts';
import type { ClientSession } from '../../gateway/catalog/client-session.ts';
import type { ListKind, ClientProfile, ServerRequest } from '../../gateway/ports/link.ts';
import type { ClientSubscriptions } from '../../gateway/relay/client-subscriptions.ts';
import type { SessionStates } from '../../gateway/catalog/session-states.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { SessionChange, SessionState } from '../../gateway/ports/legacy-sessions.ts';
import { buildErrorMessage, buildNotification } from '@assay-mcp/protocol/reply';
import type { NotificationMessage } from '@assay-mcp/protocol/message';
import { ClientLoad, type ClientLimits } from './client-load.ts';
import { wantsLog } from './handle-request.ts';
import type { Caller, Relay } from '../../gateway/relay/call.ts';
import { InFlight } from './in-flight.ts';
import { LIST_CHANGED, RESOURCE_UPDATED } from './legacy-rules.ts';
import { createLegacySubscriptions } from './legacy-subscriptions.ts';
import { ForwardedRequests, type Send } from './forwarded-requests.ts';
import type { ReplaySpace } from './replay.ts';
import { SessionStreams } from './session-streams.ts';

export interface SessionOptions {
  readonly relay: Relay;
  readonly view: View;
  readonly version: string;
  readonly profile: ClientProfile;
  readonly holder: Holder;
  /** Undefined for a session that ends with its connection, as over the older transport. */
  readonly origin?: SessionOrigin | undefined;
  /** What other processes know of it. Set if it has an origin. */
  readonly states?: SessionStates | undefined;
}

/** Where a session comes from that can continue in another process. */
export interface SessionOrigin {
  readonly id: string;
  /** The id that its client sends, which has all of this in it. */
  readonly publicId: string;
  readonly createdMs: number;
  /** Whether it began in another process, or was dropped here before. */
  readonly isRestored: boolean;
}

export type SessionLimits = Pick<Settings, 'limits.sessions' | 'limits.sessionIdleMs' | 'limits.questionMs'> &
  Partial<Pick<FixedLimits, 'unreadBytes' | 'replayBytes'>> &
  ClientLimits;

/** One legacy client: its handshake, open requests and streams. */
export class Session implements Caller, ClientSession {
  /** Names the session to the rest of Assay. Its client does not know it. */
  readonly id: string;
  readonly origin: SessionOrigin | undefined;
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
  readonly #states: SessionStates | undefined;
  /** Its state as it was last taken over from the store. */
  #state: SessionState = {};
  /** Called when another replica has ended it. */
  onEnded: (() => void) | undefined;

  constructor(
    { relay, view: endpoint, version, profile, holder, origin, states }: SessionOptions,
    limits: SessionLimits,
    space: ReplaySpace,
  ) {
    this.#load = new ClientLoad(limits);
    this.origin = origin;
    this.#states = states;
    this.id = origin?.id ?? crypto.randomUUID();
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
    const { replica } = states ?? {};
    this.forwarded = new ForwardedRequests({ capabilities, limitMs: limits['limits.questionMs'], replica });
    const { unreadBytes: maxUnreadBytes = FIXED_LIMITS.unreadBytes } = limits;
    const allChanged = (): readonly string[] =>
      CHANGEABLE.filter((kind) => view.has(kind)).map((kind) => LIST_CHANGED[kind]);
    const replay = space.open(holder.subject);
    this.streams = new SessionStreams({
      ...{ version, replay, maxUnreadBytes, allChanged, buildLost },
      sessionMark: computeShortHash(this.id, MARK_LENGTH),
    });
    const endFollowing = states?.follow(this.id, (...changed) => this.#takeState(...changed));
    const endListening = view.onChange((kinds) => this.#changed(kinds));
    this.#unsubscribe = () => {
      endFollowing?.();
      endListening();
    };
    const { quota } = this.#load;
    this.subscriptions = createLegacySubscriptions({ relay, view, quota, session: this }, (...told) =>
      this.streams.sendLatest(...told),
    );
    if (states !== undefined) this.#takeState(states.of(this.id), false);
    // It may have missed changes that were announced elsewhere.
    if (origin?.isRestored === true) for (const method of allChanged()) this.streams.sendAlways(method);
  }

  get session(): this {
    return this;
  }

  /** Saves a change for other processes, before it is acknowledged. */
  readonly keep = (change: SessionChange): Promise<Result<undefined, Refusal>> =>
    this.#states?.change(this.id, change) ?? Promise.resolve(ok(undefined));

  /** SERVER_STATE_LOST */
  readonly startProcess = (server: string): Promise<Result<undefined, Refusal>> =>
    this.#states?.startProcess(this.id, server) ?? Promise.resolve(ok(undefined));

  readonly hasProcess = (server: string): boolean | undefined => this.#states?.hasProcess(this.id, server);

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

  /** Opens the stream for messages that belong to no request. */
  listen(response: ServerResponse): void {
    this.streams.listen(response);
    this.#renewSubscriptions();
  }

  /** Resumes a stream after the event that the client received last. */
  resume(response: ServerResponse, lastEventId: string): ReturnType<SessionStreams['resume']> {
    const outcome = this.streams.resume(response, lastEventId);
    this.#renewSubscriptions();
    return outcome;
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

  /** Call only from `Sessions`. `isOver`: it cannot continue, here or at another replica. */
  end(isOver: boolean): void {
    this.#unsubscribe();
    this.subscriptions.end();
    this.inFlight.cancelAll();
    this.forwarded.end();
    this.view.forget(this.id, isOver);
    this.streams.close();
  }

  #takeState(state: SessionState, isEnded: boolean): void {
    const before = this.#state;
    this.#state = state;
    if (isEnded) {
      this.onEnded?.();
      return;
    }
    const { logLevel, subscriptions = [], processes = {} } = state;
    if (logLevel !== undefined && logLevel !== this.logLevel) {
      this.logLevel = logLevel;
      void this.view.requestLogLevel(logLevel, this);
    }
    // A subscription that is not saved yet is not in either state.
    for (const uri of before.subscriptions ?? [])
      if (!subscriptions.includes(uri)) this.subscriptions.unsubscribe(uri);
    for (const server of Object.keys(processes))
      if (before.processes?.[server] !== processes[server] && this.hasProcess(server) !== true)
        this.view.giveUpProcess(this.id, server);
    this.#renewSubscriptions();
  }

  /**
   * Subscribes to what the client subscribed to in other processes, once it listens here. Updates may have been missed
   * meanwhile, so each is reported once.
   */
  #renewSubscriptions(): void {
    if (!this.streams.isListening) return;
    for (const uri of this.#state.subscriptions ?? [])
      if (!this.subscriptions.has(uri))
        void this.subscriptions.renew(uri).then((answer) => {
          const build = (): Buffer => buildNotification(RESOURCE_UPDATED, { uri });
          if (answer.kind === 'honoured') this.streams.sendLatest(uri, build(), build);
        });
  }

  #changed(kinds: readonly ListKind[]): void {
    for (const method of new Set(kinds.map((kind) => LIST_CHANGED[kind]))) this.streams.sendAlways(method);
  }
}

/** Length of the part of event ids that names the session. */
const MARK_LENGTH = 8;

/** `idText` comes from the client, in an event id, and may be anything. */
function buildLost(idText: string): Buffer {
  const id: unknown = parseJson(idText);
  const isId = typeof id === 'string' || typeof id === 'number';
  const text = isId ? JSON.stringify(id) : undefined;
  // What the request was is known only where its stream was opened.
  const sent = { effect: 'unknown', times: 1, mayRepeat: false } as const;
  return buildErrorMessage(text, toRpcError({ code: 'RESPONSE_LOST', sent }, true), 'legacy');
}

/** The lists whose changes have their own notification; resource templates share that of resources. */
const CHANGEABLE: readonly ListKind[] = ['tools', 'prompts', 'resources'];

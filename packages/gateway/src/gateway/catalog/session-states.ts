import { CLIENT_VALUE_LIFETIME_MS } from '../../core/client-values.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type {
  ChangedSession,
  LegacySessionStore,
  SessionChange,
  SessionState,
  StoredLegacySession,
} from '../ports/legacy-sessions.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

export interface SessionStatesOptions {
  /** Opens the store, or returns the open one. */
  readonly open: () => Promise<Result<LegacySessionStore & Pick<Store, 'onChange'>, Refusal>>;
  /** The setting `limits.sessionIdleMs`. */
  readonly idleMs: number;
  readonly nowMs: () => number;
  readonly log: Log;
  /** Names this process, for one run. */
  readonly replica: string;
}

/** A legacy session as the store knows it. */
export interface SessionKey {
  readonly id: string;
  readonly subject: string;
}

/** Called when the state of a session was changed by any process. */
export type StateListener = (state: SessionState, isEnded: boolean) => void;

interface Live {
  readonly subject: string;
  /** Names the session in this process among its copies; processes belong to one of them. */
  readonly owner: string;
  /** When the session was last known to be used, as the store has it. */
  savedMs: number;
  /** The newest change that was taken over. */
  revision: number;
  state: SessionState;
  readonly listeners: Set<StateListener>;
}

/** Maximum number of ended sessions that are remembered. */
const MAX_ENDED = 10_000;
/** No session can be continued that was not used for this many ms, whatever the setting says. */
const MAX_IDLE_MS = CLIENT_VALUE_LIFETIME_MS;
/** How far apart, in ms, clocks of replicas may be without a row expiring before the id that it is about. */
const CLOCK_SKEW_MS = 10 * 60 * 1_000;
/** The share of the idle time after which the use of a session is written again. */
const SAVED_SHARE = 1 / 4;
/** Maximum number of sessions whose use is saved in one transaction, so that other writes run in between. */
const MAX_SAVED = 200;

/**
 * What legacy sessions have beyond their ids, in rows that every replica reads. A session has a row once it differs from
 * a new one, has ended, or lives long.
 */
export class SessionStates {
  readonly #options: SessionStatesOptions;
  readonly #live = new Map<string, Live>();
  /** Ids of ended sessions, oldest first. */
  readonly #ended = new Set<string>();
  #copies = 0;
  #revision: number | undefined;
  #isReading = false;
  #isSaving = false;
  #isReadQueued = false;
  #endListening: (() => void) | undefined;

  constructor(options: SessionStatesOptions) {
    this.#options = options;
  }

  get replica(): string {
    return this.#options.replica;
  }

  /** How long in ms a session may be unused. */
  get idleMs(): number {
    return Math.min(this.#options.idleMs, MAX_IDLE_MS);
  }

  /** Follows the changes of other replicas from now on. */
  async start(): Promise<void> {
    const store = await this.#store();
    if (!store.ok) this.#warn('changes of sessions cannot be followed', store.error);
  }

  /**
   * The row of a session that this process is about to continue. Undefined: it has none. SESSION_UNKNOWN: it has ended, or
   * was not used for too long. STORE_UNAVAILABLE: that cannot be known.
   */
  async read(id: string, createdMs: number): Promise<Result<StoredLegacySession | undefined, Refusal>> {
    if (this.#ended.has(id)) return err({ code: 'SESSION_UNKNOWN' });
    const nowMs = this.#options.nowMs();
    const store = await this.#store();
    if (!store.ok) return store;
    const found = await store.value.legacySession(id, nowMs);
    if (!found.ok) return found;
    const row = found.value;
    if (row?.isEnded === true) this.#rememberEnd(id);
    const usedMs = Math.max(createdMs, row?.usedMs ?? 0);
    return row?.isEnded === true || this.#ended.has(id) || nowMs - usedMs > this.idleMs
      ? err({ code: 'SESSION_UNKNOWN' })
      : ok(row);
  }

  isEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Begins to follow a session of this process. */
  add({ id, subject }: SessionKey, createdMs: number, row: StoredLegacySession | undefined): void {
    this.#copies += 1;
    this.#live.set(id, {
      owner: `${this.replica}-${this.#copies}`,
      ...{ subject, savedMs: Math.max(createdMs, row?.usedMs ?? 0), revision: row?.revision ?? 0 },
      ...{ state: row?.state ?? {}, listeners: new Set() },
    });
  }

  /** The session is no longer in this process. */
  remove(id: string): void {
    this.#live.delete(id);
  }

  /** Empty for a session that differs in nothing from a new one, and for clients without a session. */
  of(id: string): SessionState {
    return this.#live.get(id)?.state ?? {};
  }

  /** Returns a function that unsubscribes. */
  follow(id: string, listener: StateListener): () => void {
    const live = this.#live.get(id);
    live?.listeners.add(listener);
    return () => live?.listeners.delete(listener);
  }

  /** Saves a change of a session in this process. Does nothing for other clients, and if nothing changes. */
  async change(id: string, change: SessionChange): Promise<Result<undefined, Refusal>> {
    const live = this.#live.get(id);
    if (live === undefined || isDone(live.state, change)) return ok(undefined);
    const store = await this.#store();
    const changed = store.ok
      ? await store.value.changeLegacySession(this.#changed({ id, subject: live.subject }), change)
      : store;
    if (!changed.ok) return changed;
    this.#take(changed.value);
    return ok(undefined);
  }

  /**
   * Before the session's own process at a server starts here. SERVER_STATE_LOST: another replica had one, or this one
   * before a restart; the next attempt may start one.
   */
  async startProcess(id: string, server: string): Promise<Result<undefined, Refusal>> {
    if (!this.#live.has(id) || this.hasProcess(id, server) === true) return ok(undefined);
    const replica = this.#live.get(id)?.owner ?? '';
    const changed = await this.change(id, { kind: 'start_process', server, replica });
    if (!changed.ok) return changed;
    return this.hasProcess(id, server) === true ? ok(undefined) : err({ code: 'SERVER_STATE_LOST', server });
  }

  /** Whether the session's process at a server is here. Undefined if it has none. */
  hasProcess(id: string, server: string): boolean | undefined {
    const live = this.#live.get(id);
    const { processes = {} } = live?.state ?? {};
    const owner = Object.hasOwn(processes, server) ? processes[server] : undefined;
    return owner === undefined || owner === '' ? undefined : owner === live?.owner;
  }

  /** Ends a session for all replicas. It is over here at once, and everywhere when this resolves. */
  async end({ id, subject }: SessionKey): Promise<Result<undefined, Refusal>> {
    const store = await this.#store();
    const ended = store.ok
      ? await store.value.changeLegacySession(this.#changed({ id, subject }), { kind: 'end' })
      : store;
    if (!ended.ok) return ended;
    this.#rememberEnd(id);
    return ok(undefined);
  }

  /** Saves when sessions were last used: each a few times in its idle time, so that most end before the first time. */
  use(uses: Iterable<{ readonly id: string; readonly agoMs: number }>): void {
    // The next sweep finds what is due until then.
    if (this.#isSaving) return;
    const nowMs = this.#options.nowMs();
    const due: ChangedSession[] = [];
    for (const { id, agoMs } of uses) {
      const live = this.#live.get(id);
      if (live === undefined || nowMs - agoMs - live.savedMs < this.idleMs * SAVED_SHARE) continue;
      live.savedMs = nowMs - agoMs;
      due.push(this.#changed({ id, subject: live.subject }, agoMs));
    }
    if (due.length > 0) void this.#save(due);
  }

  close(): void {
    this.#endListening?.();
    this.#live.clear();
  }

  async #save(used: readonly ChangedSession[]): Promise<void> {
    this.#isSaving = true;
    for (let from = 0; from < used.length; from += MAX_SAVED) {
      const store = await this.#store();
      const saved = store.ok
        ? await store.value.useLegacySessions(used.slice(from, from + MAX_SAVED))
        : store;
      if (saved.ok) continue;
      for (const { id } of used.slice(from)) {
        const live = this.#live.get(id);
        if (live !== undefined) live.savedMs = 0;
      }
      this.#warn('the use of sessions could not be stored', saved.error);
      break;
    }
    this.#isSaving = false;
  }

  #changed({ id, subject }: SessionKey, agoMs = 0): ChangedSession {
    const nowMs = this.#options.nowMs() - agoMs;
    return { id, subject, nowMs, expiresMs: nowMs + this.idleMs + CLOCK_SKEW_MS };
  }

  /** Opens the store, and follows it from then on. */
  async #store(): ReturnType<SessionStatesOptions['open']> {
    const store = await this.#options.open();
    if (!store.ok || this.#endListening !== undefined) return store;
    this.#endListening = store.value.onChange((parts) => {
      if (parts.includes('legacy_sessions')) void this.#readChanges(store.value);
    });
    await this.#readChanges(store.value);
    return store;
  }

  /** Any number of announcements that arrive during a read cause one more. */
  async #readChanges(store: LegacySessionStore): Promise<void> {
    this.#isReadQueued = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isReadQueued) {
      this.#isReadQueued = false;
      // Before the first read, only sessions of this process may have been changed unseen.
      const since = this.#revision ?? (this.#live.size > 0 ? 0 : undefined);
      const news = await store.legacySessionsSince(since);
      if (!news.ok) {
        this.#warn('changes of sessions could not be read', news.error);
        break;
      }
      const { rows, revision, isWhole } = news.value;
      if (!isWhole) this.#isReadQueued = true;
      this.#revision = revision;
      for (const row of rows) this.#take(row);
    }
    this.#isReading = false;
  }

  #take({ id, revision, isEnded, state }: StoredLegacySession): void {
    // It may be about to be restored here.
    if (isEnded) this.#rememberEnd(id);
    const live = this.#live.get(id);
    if (live === undefined || revision <= live.revision) return;
    live.revision = revision;
    live.state = state;
    for (const listener of [...live.listeners]) listener(state, isEnded);
  }

  #rememberEnd(id: string): void {
    this.#ended.add(id);
    const [oldest = ''] = this.#ended.size > MAX_ENDED ? this.#ended : [];
    this.#ended.delete(oldest);
  }

  #warn(message: string, refusal: Refusal): void {
    this.#options.log.warn(message, { cause: formatRefusal(refusal) });
  }
}

function isDone({ logLevel, mode, subscriptions = [] }: SessionState, change: SessionChange): boolean {
  switch (change.kind) {
    case 'log_level':
      return logLevel === change.level;
    case 'mode':
      return mode === change.mode;
    case 'subscribe':
      return subscriptions.includes(change.uri);
    case 'unsubscribe':
      return !subscriptions.includes(change.uri);
    default:
      return false;
  }
}

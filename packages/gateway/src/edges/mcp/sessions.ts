import { countBySubject, chooseEviction } from '../../core/fair-share.ts';
import { FIXED_LIMITS } from '../../core/fixed-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Holder } from '../../core/subject.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { STORE_RETRY, StoreRetry } from '../../gateway/catalog/store-retry.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { SessionAnswers } from '../../gateway/catalog/session-answers.ts';
import type { SessionStates } from '../../gateway/catalog/session-states.ts';
import { ANSWER_LIMITS, type StoredLegacySession } from '../../gateway/ports/legacy-sessions.ts';
import type { SealedSession, SessionIds } from '../../gateway/ports/sealing.ts';
import type { Relay } from '../../gateway/relay/call.ts';
import type { ResponseMessage } from '@assay-mcp/protocol/message';
import { readFromClient } from './read-message.ts';
import { ReplaySpace } from './replay.ts';
import { Session, type SessionLimits, type SessionOptions, type SessionOrigin } from './session.ts';

/** A request that names a session. */
export interface SessionUse {
  readonly relay: Relay;
  readonly view: View;
  readonly identity: Holder;
}

/** What sessions need to continue in other processes on the store, and after a restart. */
export interface LastingSessions {
  readonly ids: SessionIds;
  readonly states: SessionStates;
  readonly answers: SessionAnswers;
}

/** Maximum number of answers that wait for the store. */
const MAX_WAITING = 64;
/** Maximum number of sessions that are being restored for one subject. */
const MAX_RESTORING = 64;

/**
 * The legacy sessions that this process serves. At the limit, the subject with the most sessions loses its oldest idle
 * one.
 */
export class Sessions {
  /** By the id that the client sends. */
  readonly #sessions = new Map<string, Session>();
  readonly #limits: SessionLimits;
  /** Sessions that another process may continue, by `Session.id`. */
  readonly #lasting = new Map<string, Session>();
  readonly #shared: LastingSessions;
  readonly #space: ReplaySpace;
  /** Number of sessions that are being restored, by subject. */
  readonly #restoring = new Map<string, number>();
  readonly #storeRetry: StoreRetry;
  #isClosed = false;

  constructor(limits: SessionLimits, shared: LastingSessions) {
    this.#limits = limits;
    this.#shared = shared;
    const { perSubject } = ANSWER_LIMITS;
    this.#storeRetry = new StoreRetry({ ...STORE_RETRY, perSubject, total: MAX_WAITING });
    this.#space = new ReplaySpace(limits.replayBytes ?? FIXED_LIMITS.replayBytes);
    void shared.ids.load();
    void shared.states.start();
    void shared.answers.start({
      isWaiting: () => this.#isWaiting(),
      receive: ({ session, bytes }) => void this.#receiveAnswer(session, bytes),
    });
  }

  get size(): number {
    return this.#sessions.size;
  }

  #isWaiting(): boolean {
    for (const { forwarded } of this.#lasting.values()) if (forwarded.size > 0) return true;
    return false;
  }

  get all(): Iterable<Session> {
    return this.#sessions.values();
  }

  /**
   * Begins a session that any process on the store can continue. SESSION_LIMIT: all sessions are in use and no other
   * subject has more of them. STORE_UNAVAILABLE: other processes could not continue it.
   */
  async beginLasting(options: Omit<SessionOptions, 'origin' | 'states'>): Promise<Result<Session, Refusal>> {
    const { view, holder, version, profile } = options;
    const sealed: SealedSession = {
      ...{ id: crypto.randomUUID(), createdMs: Date.now(), version },
      ...{ capabilities: profile.capabilities, clientInfo: profile.clientInfo },
    };
    const { ids } = this.#shared;
    const publicId = await ids.seal(sealed, { endpoint: view.endpoint, holder });
    // The next request of the client may reach another process.
    if (ids.hasPrivateKeys && ids.fault !== undefined) return err(ids.fault);
    const { id, createdMs } = sealed;
    return this.#open({ ...options, origin: { id, createdMs, publicId, isRestored: false } }, undefined);
  }

  #open(
    options: SessionOptions & { readonly origin: SessionOrigin },
    row: StoredLegacySession | undefined,
  ): Result<Session, Refusal> {
    const { states } = this.#shared;
    const { id, createdMs } = options.origin;
    if (states.isEnded(id)) return err({ code: 'SESSION_UNKNOWN' });
    states.add({ id, subject: options.holder.subject }, createdMs, row);
    const session = this.begin({ ...options, states });
    if (session === undefined) {
      states.remove(id);
      return err({ code: 'SESSION_LIMIT' });
    }
    this.#lasting.set(id, session);
    session.onEnded = () => this.#remove(session, true);
    return ok(session);
  }

  /** Undefined if all sessions are in use and no other subject has more of them. */
  begin(options: SessionOptions): Session | undefined {
    if (this.#sessions.size >= this.#limits['limits.sessions'] && !this.#evictFor(options.holder.subject))
      return undefined;
    const session = new Session(options, this.#limits, this.#space);
    this.#sessions.set(getPublicId(session), session);
    return session;
  }

  find(publicId: string): Session | undefined {
    const session = this.#sessions.get(publicId);
    if (session !== undefined) session.lastUsedMs = performance.now();
    return session;
  }

  /**
   * Continues a session that this process does not know: it began in another one, or was idle here for long.
   * SESSION_UNKNOWN: it has ended, or this client may not use it here; SESSION_LIMIT; CLIENT_BUSY: the subject restores
   * too many at once; STORE_UNAVAILABLE: whether it has ended cannot be known.
   */
  async restore(publicId: string, use: SessionUse): Promise<Result<Session, Refusal>> {
    const { subject } = use.identity;
    const restoring = this.#restoring.get(subject) ?? 0;
    if (restoring >= MAX_RESTORING) return err({ code: 'CLIENT_BUSY', limit: MAX_RESTORING });
    this.#restoring.set(subject, restoring + 1);
    try {
      return await this.#restore(publicId, use);
    } finally {
      const left = (this.#restoring.get(subject) ?? 1) - 1;
      if (left > 0) this.#restoring.set(subject, left);
      else this.#restoring.delete(subject);
    }
  }

  /** The same for an answer to a server request, which waits for a while if the store is away. */
  async restoreForAnswer(
    publicId: string,
    use: SessionUse,
    { answer, isGone }: { readonly answer: ResponseMessage; readonly isGone: () => boolean },
  ): Promise<Result<Session, Refusal>> {
    const restore = (): Promise<Result<Session, Refusal>> => this.restore(publicId, use);
    if (answer.bytes.length > ANSWER_LIMITS.bytes) return await restore();
    return await this.#storeRetry.run(use.identity.subject, restore, () => this.#isClosed || isGone());
  }

  async #restore(publicId: string, { relay, view, identity }: SessionUse): Promise<Result<Session, Refusal>> {
    const { ids, states } = this.#shared;
    const sealed = await ids.open(publicId, { endpoint: view.endpoint, holder: identity });
    if (sealed === undefined) return err(ids.fault ?? { code: 'SESSION_UNKNOWN' });
    const { id, createdMs, version, capabilities, clientInfo } = sealed;
    const row = await states.read(id, createdMs);
    if (!row.ok) return row;
    // Another request may have restored it meanwhile.
    const known = this.find(publicId);
    if (known !== undefined) return ok(known);
    const profile = { capabilities, clientInfo, subject: identity.subject };
    const origin = { id, createdMs, publicId, isRestored: true };
    return this.#open({ relay, view, version, holder: identity, profile, origin }, row.value);
  }

  /** Handles a client's answer. Returns a promise if another replica asked: ANSWER_UNDELIVERED */
  receive(session: Session, message: ResponseMessage): Promise<Result<undefined, Refusal>> | undefined {
    const { id, subject, forwarded } = session;
    const replica = forwarded.receive(message);
    if (replica === undefined) return undefined;
    return this.#shared.answers.pass(replica, { session: id, subject, bytes: message.bytes });
  }

  async #receiveAnswer(id: string, bytes: Buffer): Promise<void> {
    const message = await readFromClient(bytes);
    if (message.kind === 'response') this.#lasting.get(id)?.forwarded.receive(message);
  }

  #evictFor(asking: string): boolean {
    const all = [...this.#sessions.values()];
    const { subject, mayEvictInUse } = chooseEviction(countBySubject(all), asking);
    const theirs = all.filter((session) => session.subject === subject);
    const idle = theirs.filter((session) => session.isIdle);
    const candidates = idle.length > 0 || !mayEvictInUse ? idle : theirs;
    const oldest = candidates.reduce<Session | undefined>(
      (a, b) => (a === undefined || b.lastUsedMs < a.lastUsedMs ? b : a),
      undefined,
    );
    if (oldest === undefined) return false;
    // Storing its end would let clients that only begin sessions keep the store busy.
    this.#drop(oldest);
    return true;
  }

  /** Ends a session at all replicas. Its end is stored before it is acknowledged: STORE_UNAVAILABLE */
  async endByClient(session: Session): Promise<Result<undefined, Refusal>> {
    const ended = session.origin === undefined ? ok(undefined) : await this.#shared.states.end(session);
    if (ended.ok) this.#remove(session, true);
    return ended;
  }

  /** Ends a session that only this process knows. */
  endLocal(session: Session): void {
    this.#remove(session, true);
  }

  /** Ends a session here. Its client may continue it at another replica, or here if it is not idle for too long. */
  #drop(session: Session): void {
    this.#remove(session, session.origin === undefined);
  }

  /** The only place where a session ends: cancels its requests and closes its streams. */
  #remove(session: Session, isOver: boolean): boolean {
    if (!this.#sessions.delete(getPublicId(session))) return false;
    session.end(isOver);
    if (session.origin !== undefined) {
      this.#lasting.delete(session.id);
      this.#shared.states.remove(session.id);
    }
    return true;
  }

  /**
   * Drops sessions whose token is not valid now. One of a revoked token cannot be continued anywhere, because every request
   * needs that token; one whose token cannot be checked while the store is unavailable goes on afterwards.
   */
  endOthers(isHolder: (holder: Holder) => boolean): void {
    for (const session of this.#sessions.values()) if (!isHolder(session.holder)) this.#drop(session);
  }

  /** Drops sessions that were idle for too long, and streams that are no longer needed. */
  sweep(nowMs: number): void {
    for (const session of this.#sessions.values()) {
      session.streams.sweep(nowMs);
      if (!session.isIdle) session.lastUsedMs = nowMs;
      else if (nowMs - session.lastUsedMs > this.#limits['limits.sessionIdleMs']) this.#drop(session);
    }
    void this.#shared.answers.sweep();
    const agoMs = ({ lastUsedMs }: Session): number => Math.max(0, nowMs - lastUsedMs);
    this.#shared.states.use(
      [...this.#lasting.values()].map((session) => ({ id: session.id, agoMs: agoMs(session) })),
    );
  }

  /** This process ends. */
  dropAll(): void {
    this.#isClosed = true;
    for (const session of this.#sessions.values()) this.#drop(session);
  }
}

function getPublicId({ id, origin }: Session): string {
  return origin?.publicId ?? id;
}

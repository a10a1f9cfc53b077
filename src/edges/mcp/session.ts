import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Settings } from '../../core/settings.ts';
import type { ClientSession } from '../../gateway/client-session.ts';
import type { ListKind, Offer, Question } from '../../gateway/ports.ts';
import type { ResourceWishes } from '../../gateway/resource-wishes.ts';
import type { View } from '../../gateway/view.ts';
import type { NotificationMessage } from '../../protocol/message.ts';
import { notificationMessage } from '../../protocol/reply.ts';
import { wantsLog, type Caller } from './conduct.ts';
import { InFlight } from './in-flight.ts';
import { LIST_CHANGED } from './legacy-rules.ts';
import { Questions, type Send } from './questions.ts';
import { ClientLoad, type ClientLimits } from './client-load.ts';
import { legacyWishes } from './legacy-wishes.ts';
import { Unheard } from './unheard.ts';

export interface SessionOptions {
  readonly view: View;
  readonly version: string;
  readonly offer: Offer;
}

/** One legacy client: what it said at its handshake, its open requests, and the stream on which it hears of changes. */
export class Session implements Caller, ClientSession {
  readonly id: string = randomUUID();
  readonly era = 'legacy';
  readonly view: View;
  readonly subject: string;
  readonly version: string;
  readonly clientInfo: string | undefined;
  readonly offer: Offer;
  readonly questions: Questions;
  readonly inFlight: InFlight = new InFlight();
  /** Most requests under way. */
  readonly limit: number;
  readonly #load: ClientLoad;
  logLevel: string | undefined;
  lastUsedMs: number = Date.now();
  #send: ((bytes: Buffer) => void) | undefined;
  #closeStream: (() => void) | undefined;
  readonly wishes: ResourceWishes;
  readonly #unheard = new Unheard();
  readonly #unsubscribe: () => void;

  constructor({ view, version, offer }: SessionOptions, limits: SessionLimits) {
    this.#load = new ClientLoad(limits);
    this.limit = this.#load.limit;
    this.view = view;
    this.subject = offer.subject;
    this.version = version;
    this.clientInfo = offer.clientInfo;
    this.offer = offer;
    const { capabilities } = offer;
    this.questions = new Questions({ capabilities, limitMs: limits['limits.questionMs'] });
    this.#unsubscribe = view.onChange((kinds) => this.#changed(kinds));
    this.wishes = legacyWishes(view, this.#load.allowance, (...told) => this.#tell(...told));
  }

  get session(): this {
    return this;
  }

  /** On the stream of a request, where that can be, else on its own. */
  readonly ask = (question: Question, first?: Send): void => {
    this.questions.ask(question, (bytes) => first?.(bytes) === true || this.say(bytes));
  };

  hear(note: NotificationMessage): void {
    if (note.method !== 'notifications/message' || wantsLog(note, 'legacy', this.logLevel))
      this.say(note.bytes);
  }

  /** Sends what belongs to no request; false where the client has no stream for it. */
  say(bytes: Buffer): boolean {
    this.#send?.(bytes);
    return this.#send !== undefined;
  }

  get hasStream(): boolean {
    return this.#send !== undefined;
  }

  get isIdle(): boolean {
    return this.inFlight.size === 0 && !this.hasStream;
  }

  /** Takes places for requests. One whose client has gone away runs on and counts, as in this era nobody cancelled it. */
  take(response: ServerResponse, wanted: number): number {
    return this.#load.take(response, Math.min(wanted, this.limit - this.inFlight.size));
  }

  /** The client listens from now on; it hears first what changed while it did not. `close` ends the stream from our side. */
  attach(send: (bytes: Buffer) => void, close: () => void): void {
    this.#send = send;
    this.#closeStream = close;
    for (const bytes of this.#unheard.take().values()) send(bytes);
  }

  /** A stream has ended; it may be one that a newer one replaced. */
  detach(send: (bytes: Buffer) => void): void {
    if (this.#send !== send) return;
    this.#send = undefined;
    this.#closeStream = undefined;
  }

  closeStream(): void {
    const close = this.#closeStream;
    if (this.#send !== undefined) this.detach(this.#send);
    close?.();
  }

  end(): void {
    this.#unsubscribe();
    this.wishes.end();
    this.inFlight.cancelAll();
    this.questions.end();
    this.view.forget(this.id);
    this.closeStream();
  }

  #changed(kinds: readonly ListKind[]): void {
    for (const method of new Set(kinds.map((kind) => LIST_CHANGED[kind]))) {
      const bytes = notificationMessage(method);
      this.#tell(method, bytes, () => bytes);
    }
  }

  #tell(matter: string, bytes: Buffer, whole: () => Buffer): void {
    if (this.#send === undefined) this.#unheard.keep(matter, bytes, whole);
    else this.#send(bytes);
  }
}

export type SessionLimits = Pick<Settings, 'limits.sessions' | 'limits.questionMs'> & ClientLimits;

/** All legacy sessions of a door. When the limit is reached the one that was idle longest makes room. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #limits: SessionLimits;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Undefined when all sessions are in use. */
  begin(options: SessionOptions): Session | undefined {
    if (this.#sessions.size >= this.#limits['limits.sessions']) {
      const idle = [...this.#sessions.values()].filter((session) => session.isIdle);
      const oldest = idle.reduce<Session | undefined>(
        (a, b) => (a === undefined || b.lastUsedMs < a.lastUsedMs ? b : a),
        undefined,
      );
      if (oldest === undefined) return undefined;
      this.end(oldest);
    }
    const session = new Session(options, this.#limits);
    this.#sessions.set(session.id, session);
    return session;
  }

  find(id: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session !== undefined) session.lastUsedMs = Date.now();
    return session;
  }

  end(session: Session): void {
    this.#sessions.delete(session.id);
    session.end();
  }

  /** Ends those whose subject may not come in any more. */
  endOthers(isHolder: (subject: string) => boolean): void {
    for (const session of this.#sessions.values()) if (!isHolder(session.subject)) this.end(session);
  }

  /** Ends what only waits. Requests under way get their answers from what ends them. */
  closeStreams(): void {
    for (const session of this.#sessions.values()) session.closeStream();
  }
}

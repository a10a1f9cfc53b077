import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { notificationMessage } from '../../protocol/reply.ts';
import { ownCopy, type KeptEvent, type Replay } from './replay.ts';
import { SessionStream } from './session-stream.ts';

/** Mark of the session, number of the stream, number of the event. */
const EVENT_ID = /^([\da-f]{8})-(\d{1,15})-(\d{1,15})$/;
/** The first revision whose clients take an event without a message (2025-11-25, basic/transports). */
const FIRST_PRIMED = '2025-11-25';

export interface SessionStreamsOptions {
  /** The revision that the client negotiated. */
  readonly version: string;
  readonly replay: Replay;
  readonly mostUnreadBytes: number;
  /** The notifications by which the client learns that any of its lists may have changed. */
  readonly allChanged: () => readonly string[];
}

/**
 * All streams of one legacy session: one for each answer that became one, and the standing one of the GET, on which the
 * client hears what belongs to none of its requests. Each message goes out on exactly one of them.
 */
export class SessionStreams {
  readonly #options: SessionStreamsOptions;
  readonly #replay: Replay;
  readonly #streams = new Map<number, SessionStream>();
  #begun = 0;
  /** So that an id of another session is not taken for one of this. */
  #mark: string | undefined;
  #standing: SessionStream | undefined;
  /** Kept for the next connection of the standing stream, each under a name of its own. */
  readonly #unsaid = new Map<string, KeptEvent>();
  #named = 0;
  /** Notifications that mean the same however often they are said. */
  readonly #unheard = new Set<string>();

  constructor(options: SessionStreamsOptions) {
    this.#options = options;
    this.#replay = options.replay;
  }

  /** Whether the client listens to anything at the moment. */
  get isHeard(): boolean {
    for (const stream of this.#streams.values()) if (stream.isConnected) return true;
    return false;
  }

  /** A stream for the answer to a POST, on its connection. */
  open(response: ServerResponse): SessionStream {
    const stream = this.#begin();
    stream.attach(response, 0);
    return stream;
  }

  /** The client listens on this connection from now on. Who comes without an id begins anew: the stream before is over. */
  listen(response: ServerResponse): void {
    this.#standing?.close();
    this.#standing = this.open(response);
    this.#sayUnsaid(this.#standing);
  }

  /**
   * Goes on with the stream of the event that the client heard last. `over`: it has heard all of it. `unknown`: no stream
   * of this session that is still kept has such an event.
   */
  resume(response: ServerResponse, lastEventId: string): 'going on' | 'over' | 'unknown' {
    const [, mark, number, event] = EVENT_ID.exec(lastEventId) ?? [];
    const stream = mark === this.#mark ? this.#streams.get(Number(number)) : undefined;
    const after = Number(event);
    if (stream === undefined || after > stream.newest) return 'unknown';
    if (stream.isOver && stream.newest === after) return 'over';
    const isWhole = stream.attach(response, after);
    if (stream === this.#standing) {
      if (!isWhole) for (const method of this.#options.allChanged()) this.#unheard.add(method);
      this.#sayUnsaid(stream);
    }
    return 'going on';
  }

  /**
   * Says what belongs to no request: on the standing stream, else on that of a request, else when a client that has
   * listened before comes back. False: nobody will hear it, and it is not kept.
   */
  say(bytes: Buffer): boolean {
    const heard = this.#standing?.isConnected === true ? this.#standing : this.#anyConnected();
    if (heard === undefined)
      return this.#standing !== undefined && this.#keepUnsaid(String((this.#named += 1)), bytes);
    heard.send(bytes);
    return true;
  }

  /**
   * Says a notification about a matter on the standing stream, else as soon as the client listens. Of each matter at most
   * one is kept; where it would be two, `whole` says that all of the matter may have changed.
   */
  tell(matter: string, bytes: Buffer, whole: () => Buffer): void {
    if (this.#standing?.isConnected === true) {
      this.#standing.send(bytes);
      return;
    }
    const kept = this.#unsaid.get(matter);
    if (kept !== undefined) {
      this.#replay.drop(kept);
      this.#unsaid.delete(matter);
    }
    this.#keepUnsaid(matter, kept === undefined ? bytes : whole());
  }

  /** The same for one without params that must not be lost, whatever else was said. */
  tellSurely(method: string): void {
    if (this.#standing?.isConnected === true) this.#standing.send(notificationMessage(method));
    else this.#unheard.add(method);
  }

  /** Lets go of what nobody should need any more. */
  sweep(nowMs: number): void {
    for (const stream of this.#streams.values()) stream.sweep(nowMs);
  }

  /** The session has ended: every stream with it. */
  close(): void {
    this.#replay.close();
    for (const stream of [...this.#streams.values()]) stream.close();
    this.#streams.clear();
    this.#unsaid.clear();
    this.#unheard.clear();
  }

  #begin(): SessionStream {
    const { version, mostUnreadBytes } = this.#options;
    this.#mark ??= randomBytes(4).toString('hex');
    const number = (this.#begun += 1);
    const stream = new SessionStream({
      idStart: `${this.#mark}-${number}-`,
      replay: this.#replay,
      mostUnreadBytes,
      isPrimed: version >= FIRST_PRIMED,
      onForgotten: () => this.#streams.delete(number),
    });
    this.#streams.set(number, stream);
    return stream;
  }

  #anyConnected(): SessionStream | undefined {
    for (const stream of this.#streams.values()) if (!stream.isOver && stream.isConnected) return stream;
    return undefined;
  }

  #keepUnsaid(name: string, bytes: Buffer): boolean {
    if (!this.#replay.hasRoomFor(bytes.length)) return false;
    const event = this.#replay.keep(ownCopy([bytes]), () => this.#unsaid.delete(name));
    this.#unsaid.set(name, event);
    return true;
  }

  #sayUnsaid(stream: SessionStream): void {
    const unsaid = [...this.#unsaid.values()];
    this.#unsaid.clear();
    for (const event of unsaid) {
      this.#replay.drop(event);
      stream.send(event.bytes);
    }
    for (const method of this.#unheard) stream.send(notificationMessage(method));
    this.#unheard.clear();
  }
}

import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { copyPieces, type KeptEvent, type Replay } from './replay.ts';
import { SessionStream } from './session-stream.ts';

/** Mark of the session, stream number, event number. */
const EVENT_ID = /^([\da-f]{8})-(\d{1,15})-(\d{1,15})$/;
/** The first revision whose clients accept an event without a message (2025-11-25, basic/transports). */
const FIRST_PRIMED = '2025-11-25';

export interface SessionStreamsOptions {
  /** The revision that the client negotiated. */
  readonly version: string;
  readonly replay: Replay;
  readonly maxUnreadBytes: number;
  /** The notifications that announce a change of every list. */
  readonly allChanged: () => readonly string[];
}

/**
 * All streams of one legacy session: one for each answer that became a stream, and the standing one of the GET, for
 * messages that belong to none of the client's requests. Each message is sent on exactly one of them.
 */
export class SessionStreams {
  readonly #options: SessionStreamsOptions;
  readonly #replay: Replay;
  readonly #streams = new Map<number, SessionStream>();
  #begun = 0;
  /** Distinguishes event ids of this session from those of others. */
  #mark: string | undefined;
  #standing: SessionStream | undefined;
  /** Kept for the next connection of the standing stream, by topic. */
  readonly #held = new Map<string, KeptEvent>();
  #named = 0;
  /** Idempotent notifications for the next connection of the standing stream. */
  readonly #heldMethods = new Set<string>();

  constructor(options: SessionStreamsOptions) {
    this.#options = options;
    this.#replay = options.replay;
  }

  /** Whether any stream is connected. */
  get isConnected(): boolean {
    for (const stream of this.#streams.values()) if (stream.isConnected) return true;
    return false;
  }

  /** Opens a stream for the answer to a POST, on its connection. */
  open(response: ServerResponse): SessionStream {
    const stream = this.#begin();
    stream.attach(response, 0);
    return stream;
  }

  /**
   * Makes this connection the standing stream. A client that sends no event id starts over, so the previous one ends.
   */
  listen(response: ServerResponse): void {
    this.#standing?.close();
    this.#standing = this.open(response);
    this.#standing.begin();
    this.#sendHeld(this.#standing);
  }

  /**
   * Resumes the stream of the event that the client received last. `over`: it received all of it. `unknown`: no stream
   * kept for this session has such an event.
   */
  resume(response: ServerResponse, lastEventId: string): 'resumed' | 'over' | 'unknown' {
    const [, mark, number, event] = EVENT_ID.exec(lastEventId) ?? [];
    const stream = mark === this.#mark ? this.#streams.get(Number(number)) : undefined;
    const after = Number(event);
    if (stream === undefined || after > stream.newest) return 'unknown';
    if (stream.isOver && stream.newest === after) return 'over';
    const isWhole = stream.attach(response, after);
    stream.begin();
    if (stream === this.#standing) {
      if (!isWhole) for (const method of this.#options.allChanged()) this.#heldMethods.add(method);
      this.#sendHeld(stream);
    }
    return 'resumed';
  }

  /**
   * Sends a message that belongs to no request: on the standing stream, else on that of a request, else when a client
   * that has listened before reconnects. Returns false if it can be neither sent nor kept.
   */
  send(bytes: Buffer): boolean {
    const stream = this.#standing?.isConnected === true ? this.#standing : this.#anyConnected();
    if (stream === undefined)
      return this.#standing !== undefined && this.#hold(String((this.#named += 1)), bytes);
    stream.send(bytes);
    return true;
  }

  /** Sends a response on the standing stream, for a client whose requests have no streams of their own. */
  respond(pieces: readonly Buffer[]): void {
    this.#standing?.respondIfRead(pieces);
  }

  /**
   * Sends a notification about a topic on the standing stream, or as soon as the client listens. At most one per topic
   * is kept; a second is replaced by `whole`, which says that the whole topic may have changed.
   */
  sendLatest(topic: string, bytes: Buffer, whole: () => Buffer): void {
    if (this.#standing?.isConnected === true) {
      this.#standing.send(bytes);
      return;
    }
    const kept = this.#held.get(topic);
    if (kept !== undefined) {
      this.#replay.drop(kept);
      this.#held.delete(topic);
    }
    this.#hold(topic, kept === undefined ? bytes : whole());
  }

  /** Like `tell`, for a notification without params. It is never dropped. */
  sendAlways(method: string): void {
    if (this.#standing?.isConnected === true) this.#standing.send(buildNotification(method));
    else this.#heldMethods.add(method);
  }

  /** Drops streams that the client has presumably received. */
  sweep(nowMs: number): void {
    for (const stream of this.#streams.values()) stream.sweep(nowMs);
  }

  /** The session has ended: closes all its streams. */
  close(): void {
    this.#replay.close();
    for (const stream of [...this.#streams.values()]) stream.close();
    this.#streams.clear();
    this.#held.clear();
    this.#heldMethods.clear();
  }

  #begin(): SessionStream {
    const { version, maxUnreadBytes } = this.#options;
    this.#mark ??= randomBytes(4).toString('hex');
    const number = (this.#begun += 1);
    const stream = new SessionStream({
      idStart: `${this.#mark}-${number}-`,
      replay: this.#replay,
      maxUnreadBytes,
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

  #hold(name: string, bytes: Buffer): boolean {
    if (!this.#replay.hasRoomFor(bytes.length)) return false;
    const event = this.#replay.keep(copyPieces([bytes]), () => this.#held.delete(name));
    this.#held.set(name, event);
    return true;
  }

  #sendHeld(stream: SessionStream): void {
    const held = [...this.#held.values()];
    this.#held.clear();
    for (const event of held) {
      this.#replay.drop(event);
      stream.send(event.bytes);
    }
    for (const method of this.#heldMethods) stream.send(buildNotification(method));
    this.#heldMethods.clear();
  }
}

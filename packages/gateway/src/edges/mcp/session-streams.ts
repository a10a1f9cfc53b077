import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { copyPieces, type KeptEvent, type Replay } from './replay.ts';
import { FIRST_PRIMED, SessionStream } from './session-stream.ts';

/** Session, process, stream number, event number; for the answer to a POST also the request. */
const EVENT_ID = /^([\da-f]{8})([\da-f]{8})-(\d{1,15})-(\d{1,15})(?:\.([\w-]{1,64}))?$/;
/** Stands for a request whose id is too long, and for a batch. */
const UNNAMED = '_';
const MAX_REQUEST_BYTES = 48;

/** Whether a client may have this id from a stream of any session. */
export function isEventId(text: string): boolean {
  return EVENT_ID.test(text);
}

export interface SessionStreamsOptions {
  /** The revision that the client negotiated. */
  readonly version: string;
  readonly replay: Replay;
  readonly maxUnreadBytes: number;
  /** Eight hexadecimal digits that are the same for this session in every process. */
  readonly sessionMark: string;
  /** Builds the response to a request, by the JSON text of its id, whose response cannot be had here. */
  readonly buildLost: (idText: string) => Buffer;
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
  /** Distinguishes event ids of this session in this process from all others. */
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

  /** Whether the client has a stream for messages that belong to no request, and is connected to it. */
  get isListening(): boolean {
    return this.#standing?.isConnected === true;
  }

  /** Opens a stream for the answer to a POST, on its connection. `idText`: the request; undefined for a batch. */
  open(response: ServerResponse, idText?: string): SessionStream {
    const isShort = idText !== undefined && Buffer.byteLength(idText) <= MAX_REQUEST_BYTES;
    const stream = this.#begin(`.${isShort ? Buffer.from(idText).toString('base64url') : UNNAMED}`);
    stream.attach(response, 0);
    return stream;
  }

  /**
   * Makes this connection the standing stream. A client that sends no event id starts over, so the previous one ends.
   */
  listen(response: ServerResponse): void {
    this.#openStanding(response).begin();
    this.#sendHeld();
  }

  /**
   * Resumes the stream of the event that the client received last. `over`: it received all of it. `unknown`: no stream
   * kept for this session has such an event. A stream of another process goes on without what was sent there.
   */
  resume(response: ServerResponse, lastEventId: string): 'resumed' | 'over' | 'unknown' {
    const [, session, mark, number, event, request] = EVENT_ID.exec(lastEventId) ?? [];
    if (session !== this.#options.sessionMark) return 'unknown';
    if (mark !== this.#mark) {
      this.#resumeElsewhere(response, request);
      return 'resumed';
    }
    const stream = this.#streams.get(Number(number));
    const after = Number(event);
    if (stream === undefined || after > stream.newest || !stream.hasId(lastEventId, after)) return 'unknown';
    if (stream.isOver && stream.newest === after) return 'over';
    const isWhole = stream.attach(response, after);
    stream.begin();
    if (stream === this.#standing) {
      if (!isWhole) this.#holdAllChanged();
      this.#sendHeld();
    }
    return 'resumed';
  }

  /** `request`: set if the stream was the answer to a POST, which only the other process has. */
  #resumeElsewhere(response: ServerResponse, request: string | undefined): void {
    const loss = 'events sent by another process are not kept here';
    if (request === undefined) {
      const stream = this.#openStanding(response);
      stream.comment(loss);
      this.#holdAllChanged();
      this.#sendHeld();
      return;
    }
    const stream = this.open(response);
    stream.comment(loss);
    if (request !== UNNAMED)
      stream.respond([this.#options.buildLost(Buffer.from(request, 'base64url').toString('utf8'))]);
    stream.close();
  }

  #openStanding(response: ServerResponse): SessionStream {
    this.#standing?.close();
    const stream = this.#begin('');
    stream.attach(response, 0);
    this.#standing = stream;
    return stream;
  }

  #holdAllChanged(): void {
    for (const method of this.#options.allChanged()) this.#heldMethods.add(method);
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

  /** Like `sendLatest`, for a notification without params. It is never dropped. */
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

  #begin(idEnd: string): SessionStream {
    const { version, maxUnreadBytes, sessionMark } = this.#options;
    this.#mark ??= randomBytes(4).toString('hex');
    const number = (this.#begun += 1);
    const stream = new SessionStream({
      idStart: `${sessionMark}${this.#mark}-${number}-`,
      idEnd,
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

  #sendHeld(): void {
    const stream = this.#standing;
    if (stream === undefined) return;
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

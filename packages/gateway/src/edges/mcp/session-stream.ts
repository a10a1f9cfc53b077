import type { ServerResponse } from 'node:http';
import { buildComment, EVENT_TAIL, buildEventHead, buildPrimingEvent } from '@assay-mcp/protocol/sse';
import { toOneLine } from '@assay-mcp/protocol/splice';
import { HttpStream, type MessageSink } from './http-stream.ts';
import { copyPieces, type KeptEvent, type Replay } from './replay.ts';

/** The first revision whose clients accept an event without a message (2025-11-25, basic/transports). */
export const FIRST_PRIMED = '2025-11-25';
/** The reconnection delay in ms requested of the client. */
export const RETRY_MS = 1_000;
/** How long in ms a fully sent stream is kept, in case its end was lost in transit. */
const KEEP_TAKEN_MS = 30_000;
const NOTHING: Buffer = Buffer.alloc(0);

export interface SessionStreamOptions {
  /** The beginning and the end of its event ids. */
  readonly idStart: string;
  readonly idEnd: string;
  readonly replay: Replay;
  readonly maxUnreadBytes: number;
  /** Whether the client accepts an event without a message. */
  readonly isPrimed: boolean;
  /** Called when nothing of the stream can be resumed anymore. */
  readonly onForgotten: () => void;
}

/**
 * A stream of a legacy session that outlives its connection. Events have ids, and a client that reconnects with one
 * gets the events after it (2025-11-25, basic/transports#resumability-and-redelivery). A new connection replaces the
 * old one.
 */
export class SessionStream implements MessageSink {
  readonly #options: SessionStreamOptions;
  #connection: HttpStream | undefined;
  /** The newest events, without gaps. Event number 0 is the empty opening. */
  readonly #kept: KeptEvent[] = [];
  #newest = -1;
  #isOver = false;
  #isTaken = false;
  #takenMs: number | undefined;

  constructor(options: SessionStreamOptions) {
    this.#options = options;
    this.#number(NOTHING);
  }

  /** Number of the newest event. */
  get newest(): number {
    return this.#newest;
  }

  get isConnected(): boolean {
    return this.#connection?.isOpen === true;
  }

  /** Whether the stream is complete. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Continues on this connection after event number `after`. Returns false if some events in between were evicted. */
  attach(response: ServerResponse, after: number): boolean {
    const { maxUnreadBytes, isPrimed } = this.#options;
    const onClose = (isTaken: boolean): void => this.#left(connection, isTaken);
    const connection: HttpStream = new HttpStream(response, { maxUnreadBytes, onClose });
    this.#connection?.close();
    this.#connection = connection;
    if (isPrimed) connection.write([buildPrimingEvent(this.#idOf(after), RETRY_MS)]);
    const missed = this.#newest - after;
    const lost = Math.max(0, missed - this.#kept.length);
    if (lost > 0) connection.write([buildComment(`${lost} events are not kept any more`)]);
    if (missed > 0) connection.write(this.#kept.slice(-missed).map(({ bytes }) => bytes));
    if (this.#isOver) connection.close();
    return lost === 0;
  }

  /** Called for a stream on which no message may follow for long. A priming event serves the same purpose. */
  begin(): void {
    if (!this.#options.isPrimed) this.#connection?.comment();
  }

  /** Whether this is the id of an event. */
  hasId(id: string, number: number): boolean {
    return id === this.#idOf(number);
  }

  /** Tells people who read the stream. Clients ignore it. */
  comment(text: string): void {
    this.#connection?.write([buildComment(text)]);
  }

  /** Messages sent while disconnected are kept if there is room. */
  send(bytes: Buffer): void {
    this.#say([bytes]);
    this.#connection?.dropUnread();
  }

  respond(pieces: readonly Buffer[]): void {
    this.#say(pieces);
  }

  /** Disconnects a client that has not read the responses before. A single large one may exceed the limit. */
  respondIfRead(pieces: readonly Buffer[]): void {
    this.#connection?.dropUnread();
    this.#say(pieces);
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection?.close();
    if (this.#kept.length === 0) this.#options.onForgotten();
  }

  /** Drops a stream that the client has presumably received. */
  sweep(nowMs: number): void {
    if (!this.#isTaken) return;
    this.#takenMs ??= nowMs;
    if (nowMs - this.#takenMs > KEEP_TAKEN_MS) this.#dropAll();
  }

  #say(pieces: readonly Buffer[]): void {
    if (this.#isOver) return;
    const head = buildEventHead(this.#idOf(this.#newest + 1));
    const framed = [head, ...pieces.map(toOneLine), EVENT_TAIL];
    const length = framed.reduce((sum, piece) => sum + piece.length, 0);
    if (this.#options.replay.hasRoomFor(length)) {
      const bytes = copyPieces(framed);
      this.#number(bytes);
      this.#connection?.write([bytes]);
    } else {
      this.#dropAll();
      this.#newest += 1;
      this.#connection?.write(framed);
    }
  }

  #number(bytes: Buffer): void {
    const { replay } = this.#options;
    this.#newest += 1;
    if (replay.hasRoomFor(bytes.length)) this.#kept.push(replay.keep(bytes, () => this.#oldestEvicted()));
  }

  #oldestEvicted(): void {
    this.#kept.shift();
    if (this.#isOver && this.#kept.length === 0) this.#options.onForgotten();
  }

  #dropAll(): void {
    for (const event of this.#kept.splice(0)) event.replay.drop(event);
    if (this.#isOver) this.#options.onForgotten();
  }

  #left(connection: HttpStream, isTaken: boolean): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#isTaken = this.#isOver && isTaken;
  }

  #idOf(number: number): string {
    return `${this.#options.idStart}${number}${this.#options.idEnd}`;
  }
}

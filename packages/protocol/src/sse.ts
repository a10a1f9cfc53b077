import { CollectedBytes } from '@assay-mcp/kit/collected-bytes';

/** One event (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). */
export interface SseEvent {
  readonly event: string;
  readonly data: Buffer;
  /** The id set by this event itself. */
  readonly id: string | undefined;
}

/** The parser received more bytes for one event than its limit. */
export class EventTooLarge extends Error {}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;

/**
 * Parses an event stream from chunks and emits complete events. Lines end in LF or CRLF. A lone CR, which the standard
 * also allows, stays part of the line: no MCP server is known to send it, and JSON cannot contain it.
 */
export class SseParser {
  /** The id of the last complete event, even one without data; empty if the stream reset it. */
  lastId: string | undefined;
  /** Reconnection delay in ms, if the stream sets one. */
  retryMs: number | undefined;
  readonly #emit: (event: SseEvent) => void;
  readonly #limitBytes: number;
  readonly #line = new CollectedBytes();
  readonly #data = new CollectedBytes();
  #hasData = false;
  #event = '';
  #id: string | undefined;
  #isFirst = true;

  constructor(emit: (event: SseEvent) => void, limitBytes: number) {
    this.#emit = emit;
    this.#limitBytes = limitBytes;
  }

  /** @throws EventTooLarge */
  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, from);
      if (end < 0) break;
      this.#field(this.#whole(chunk.subarray(from, end)));
      from = end + 1;
    }
    if (from < chunk.length) {
      this.#line.add(chunk.subarray(from));
      if (this.#line.length + this.#data.length > this.#limitBytes) throw new EventTooLarge();
    }
  }

  #whole(tail: Buffer): Buffer {
    let line = tail;
    if (this.#line.length > 0) {
      this.#line.add(tail);
      line = this.#line.take();
    }
    if (this.#isFirst && line.subarray(0, 3).equals(BYTE_ORDER_MARK)) line = line.subarray(3);
    this.#isFirst = false;
    return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
  }

  #field(line: Buffer): void {
    if (line.length === 0) {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(COLON);
    if (colon === 0) return; // a comment, such as keep-alive
    const nameEnd = colon < 0 ? line.length : colon;
    if (nameEnd > MAX_NAME_LENGTH) return;
    const name = line.toString('latin1', 0, nameEnd);
    const value =
      colon < 0
        ? line.subarray(line.length)
        : line.subarray(line[colon + 1] === SPACE ? colon + 2 : colon + 1);
    if (name === 'data') {
      if (this.#hasData) this.#data.add(NEW_LINE);
      this.#hasData = true;
      this.#data.add(value);
      if (this.#data.length > this.#limitBytes) throw new EventTooLarge();
    } else if (value.length > MAX_VALUE_LENGTH) return;
    else if (name === 'event') this.#event = value.toString();
    else if (name === 'id') {
      if (!value.includes(0)) this.#id = value.toString();
    } else if (name === 'retry' && DIGITS.test(value.toString('latin1'))) this.retryMs = Number(value);
  }

  #dispatch(): void {
    const id = this.#id;
    this.#id = undefined;
    if (id !== undefined) this.lastId = id;
    const event = this.#event === '' ? 'message' : this.#event;
    this.#event = '';
    if (!this.#hasData) return;
    this.#hasData = false;
    this.#emit({ event, data: this.#data.take(), id });
  }
}

/** Maximum length in bytes of field names, and of field values other than `data`; longer ones are ignored. */
const MAX_NAME_LENGTH = 16;
const MAX_VALUE_LENGTH = 64 * 1024;
const DIGITS = /^\d+$/;
const NEW_LINE: Buffer = Buffer.from('\n');
const BYTE_ORDER_MARK: Buffer = Buffer.from([0xef, 0xbb, 0xbf]);

/** What precedes and follows a one-line JSON text to form an event. */
export const EVENT_HEAD: Buffer = Buffer.from('event: message\ndata: ');
export const EVENT_TAIL: Buffer = Buffer.from('\n\n');
/** A comment: keeps proxies and clients from closing a quiet stream. */
export const KEEP_ALIVE: Buffer = Buffer.from(': keep-alive\n\n');

/** The same for an event from which a client can resume. The id must be plain text on one line. */
export function buildEventHead(id: string): Buffer {
  return Buffer.from(`id: ${id}\nevent: message\ndata: `);
}

/**
 * An event without a message that tells a client where to resume and after how many ms
 * (2025-11-25, basic/transports#sending-messages-to-the-server). Older clients would take its data for a message.
 */
export function buildPrimingEvent(id: string, retryMs: number): Buffer {
  return Buffer.from(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
}

/** Sets the reconnection delay without an event. */
export function buildRetry(retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\n\n`);
}

/** A comment for human readers; parsers skip it. */
export function buildComment(text: string): Buffer {
  return Buffer.from(`: ${text}\n\n`);
}

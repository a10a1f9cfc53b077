import { CollectedBytes } from '@assay-mcp/kit/collected-bytes';
import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import type {
  ConnectionFault,
  HttpClient,
  HttpRequest,
  ResponseBody,
  ResponseHandler,
  ResponseHeaders,
} from '@assay-mcp/kit/platform/http-client';
import { failPeer, type Peer } from '@assay-mcp/kit/platform/guarded';
import { InOrder } from '@assay-mcp/kit/platform/in-order';
import type { Message, NoMessage } from '@assay-mcp/protocol/message';
import { SseParser } from '@assay-mcp/protocol/sse';
import { receive, SERVER_MESSAGE_LIMIT, type Sender } from './incoming.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { StreamHeartbeat } from './stream-heartbeat.ts';
import type { StreamPosition } from './stream-position.ts';

/** Time in ms a stream may stay open after its response; its slot in the pool is needed. */
const LINGER_MS = 1_000;

/** How an HTTP exchange ended, with or without a response. */
export type HttpEnd =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: ResponseHeaders;
      /** The credentials did not suffice. */
      readonly refusal?: Refusal;
      /** The beginning of the body of an HTTP 400 that is not a message. */
      readonly text?: string | undefined;
    }
  /** No connection; nothing was sent. */
  | { readonly kind: 'unreached'; readonly cause: Cause }
  /** The connection broke. */
  | { readonly kind: 'broken'; readonly cause: Cause };

export interface HttpExchangeOptions {
  readonly client: HttpClient;
  readonly request: HttpRequest;
  /** Whether the answer may stay open for long and so must not use the pool for calls. */
  readonly isStream: boolean;
  /** Whether the response is the last message. A server may still leave its stream open. */
  readonly endsWithResponse: boolean;
  /**
   * Ends a stream whose regular heartbeat stops: a silence of at least this many ms. Undefined: its silence means
   * nothing.
   */
  readonly minSilenceMs?: number | undefined;
  /** Set if the stream can be resumed; events already received are skipped. */
  readonly streamPosition?: StreamPosition | undefined;
  readonly server: string;
  readonly log: Log;
  readonly onMessage: (message: Message | NoMessage) => void;
  /** Called when the response head arrives. */
  readonly onStart?: (status: number, headers: ResponseHeaders) => void;
  /** Called for events that are not messages, which the older transport uses. */
  readonly onEvent?: ((event: string, data: Buffer) => void) | undefined;
  readonly onEnd: (end: HttpEnd) => void;
}

/**
 * One HTTP request to an MCP server. Its answer is JSON or an event stream with one message per event.
 * Returns a function that aborts it.
 */
export function exchangeHttp(options: HttpExchangeOptions): () => void {
  return new HttpExchange(options).abort;
}

class HttpExchange implements ResponseHandler, Sender {
  readonly server: string;
  readonly log: Log;
  readonly #options: HttpExchangeOptions;
  readonly abort: () => void;
  #reader: Reader | undefined;
  #status = 0;
  #headers: ResponseHeaders = {};
  #broken: Cause | undefined;
  #isOver = false;
  #lingering: NodeJS.Timeout | undefined;
  readonly #heartbeat: StreamHeartbeat | undefined;

  constructor(options: HttpExchangeOptions) {
    this.#options = options;
    const { client, request, isStream, server, log } = options;
    this.server = server;
    this.log = log;
    const { minSilenceMs } = options;
    if (minSilenceMs !== undefined)
      this.#heartbeat = new StreamHeartbeat({ minSilenceMs, onSilent: () => this.#onSilent() });
    this.abort = isStream ? client.stream(request, this) : client.call(request, this);
  }

  start(status: number, headers: ResponseHeaders, body: ResponseBody): void {
    this.#status = status;
    this.#headers = headers;
    this.#reader = isEventStream(headers)
      ? createEventReader(
          {
            take: (bytes) => this.#take(bytes),
            hold: (isHeld) => body.hold(isHeld),
            peer: body.peer,
            onBroken: (error) => this.#onBroken(error),
          },
          this.#options,
        )
      : new BodyReader(
          { take: (bytes) => this.#take(bytes), onBroken: (error) => this.#onBroken(error), peer: body.peer },
          headers,
        );
    this.#options.onStart?.(status, headers);
  }

  /** Text of other media types may contain data that does not belong in a log. */
  isQuoted(): boolean {
    return isEventStream(this.#headers) || isJson(this.#headers);
  }

  data(chunk: Buffer): void {
    this.#heartbeat?.note(chunk);
    if (this.#broken === undefined) this.#reader?.push(chunk);
  }

  end(): void {
    this.#over({ kind: 'answered', status: this.#status, headers: this.#headers });
  }

  error(cause: ConnectionFault, isUnreached: boolean): void {
    this.#over({ kind: isUnreached ? 'unreached' : 'broken', cause: this.#broken ?? cause });
  }

  #take(bytes: Buffer): Promise<void> | undefined {
    return receive(bytes, this, (message) => this.#handle(message));
  }

  #handle(message: Message | NoMessage): void {
    this.#options.onMessage(message);
    // The rest of a stream may never end.
    if (this.#options.endsWithResponse && message.kind === 'response' && !this.#isOver)
      this.#lingering ??= setTimeout(() => this.abort(), LINGER_MS);
  }

  #onBroken(error: unknown): void {
    const { server } = this;
    this.#broken = { code: 'MESSAGE_TOO_LARGE', limitBytes: SERVER_MESSAGE_LIMIT };
    this.#options.streamPosition?.forget(); // the same event would be replayed
    this.log.warn('server sent a message that is too large', {
      server,
      ...this.#broken,
      error: String(error),
    });
    this.abort();
  }

  #onSilent(): void {
    this.log.debug('the heartbeat of a stream has stopped; it is opened again', { server: this.server });
    this.#broken = { code: 'CONNECTION_TIMEOUT' };
    this.abort();
  }

  /** Reports the end once everything received has been handled. */
  #over(end: HttpEnd): void {
    this.#isOver = true;
    this.#heartbeat?.close();
    clearTimeout(this.#lingering);
    if (this.#reader === undefined) this.#options.onEnd(end);
    else
      this.#reader.end(end, (text) =>
        this.#options.onEnd(text === undefined || end.kind !== 'answered' ? end : { ...end, text }),
      );
  }
}

function typeOf(headers: ResponseHeaders): string {
  return String(headers['content-type'] ?? '').toLowerCase();
}

function isEventStream(headers: ResponseHeaders): boolean {
  return headers['content-type'] !== 'application/json' && typeOf(headers).startsWith('text/event-stream');
}

function isJson(headers: ResponseHeaders): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(typeOf(headers));
}

export function isHtml(headers: ResponseHeaders): boolean {
  return typeOf(headers).startsWith('text/html');
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Enough for a sentence about what is wrong. */
const MAX_TEXT_BYTES = 400;

export interface Reader {
  push(chunk: Buffer): void;
  /** Calls back when everything received has been taken. `text`: the beginning of an HTTP 400 that is not a message. */
  end(end: HttpEnd, onTaken: (text?: string) => void): void;
}

export type Take = (bytes: Buffer) => Promise<void> | undefined;

interface ReaderOwner {
  readonly take: Take;
  /** Called when something in the body is too large. */
  readonly onBroken: (error: unknown) => void;
  /** For faults in handling the body. */
  readonly peer: Peer;
}

/** Reads an event stream, with a bounded share of each turn of the event loop. */
export function createEventReader(
  to: {
    readonly hold: (isHeld: boolean) => void;
  } & ReaderOwner,
  { onEvent, streamPosition }: Pick<HttpExchangeOptions, 'onEvent' | 'streamPosition'>,
): Reader {
  let isBroken = false;
  const { peer } = to;
  const messages = new InOrder({ take: to.take, hold: (isHeld) => chunks.hold(isHeld), peer });
  const parser = new SseParser(({ event, data, id }) => {
    if (streamPosition?.isNew(id) === false) return;
    streamPosition?.advance();
    // Messages are events of this type; servers and proxies send others, such as `ping`, to keep a stream open.
    if (event !== 'message') onEvent?.(event, data);
    else if (data.length > 0) messages.push(data);
  }, SERVER_MESSAGE_LIMIT);
  // Parsing takes time too, even for lines without data.
  const chunks = new InOrder({
    peer,
    hold: to.hold,
    take: (chunk) => {
      if (isBroken) return undefined;
      try {
        parser.push(chunk);
        streamPosition?.follow(parser);
      } catch (error) {
        isBroken = true;
        to.onBroken(error);
      }
      return undefined;
    },
  });
  return {
    push: (chunk) => chunks.push(chunk),
    end: (_, onTaken) => chunks.whenIdle(() => messages.whenIdle(onTaken)),
  };
}

class BodyReader implements Reader {
  readonly #body: CollectedBytes;
  readonly #owner: ReaderOwner;
  readonly #headers: ResponseHeaders;

  constructor(owner: ReaderOwner, headers: ResponseHeaders) {
    this.#owner = owner;
    this.#headers = headers;
    this.#body = new CollectedBytes(Number(headers['content-length'] ?? 0));
  }

  push(chunk: Buffer): void {
    this.#body.add(chunk);
    if (this.#body.length > SERVER_MESSAGE_LIMIT) this.#owner.onBroken(new Error('body too large'));
  }

  end(end: HttpEnd, onTaken: (text?: string) => void): void {
    const body = this.#body;
    // A 202 carries no response, even if some servers send a body with it. A body that breaks off carries none either.
    if (end.kind !== 'answered' || end.status === 202 || body.length === 0) {
      onTaken();
      return;
    }
    const bytes = body.take();
    // An error status or a web page may have any body; only take it if it looks like a message.
    const isPage = isHtml(this.#headers);
    const mayBeMessage = (isSuccess(end.status) && !isPage) || bytes.includes('"jsonrpc"');
    const isText = !mayBeMessage && !isPage && end.status === 400;
    const taking = mayBeMessage ? this.#owner.take(bytes) : undefined;
    if (taking === undefined) onTaken(isText ? bytes.toString('utf8', 0, MAX_TEXT_BYTES) : undefined);
    else taking.catch((error: unknown) => failPeer(this.#owner.peer, error)).finally(() => onTaken());
  }
}

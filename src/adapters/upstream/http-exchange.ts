import { CollectedBytes } from '../../core/collected-bytes.ts';
import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { HttpClient, HttpRequest, ResponseHeaders } from '../../platform/http-client.ts';
import { InOrder } from '../../platform/in-order.ts';
import type { Message, NoMessage } from '../../protocol/message.ts';
import { SseParser } from '../../protocol/sse.ts';
import { receive, SERVER_MESSAGE_LIMIT } from './incoming.ts';
import type { Log } from '../../gateway/ports/link.ts';
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
  /** Set if the stream can be resumed; events already received are skipped. */
  readonly trail?: StreamPosition | undefined;
  readonly server: string;
  readonly log: Log;
  readonly onMessage: (message: Message | NoMessage) => void;
  /** Called when the response head arrives. */
  readonly onStart?: (status: number, headers: ResponseHeaders) => void;
  /** For the older transport, where not every event is a message. */
  readonly onEvent?: (event: string, data: Buffer) => void;
  readonly onEnd: (end: HttpEnd) => void;
}

/**
 * One HTTP request to an MCP server. Its answer is JSON or an event stream with one message per event.
 * Returns a function that aborts it.
 */
export function exchangeHttp(options: HttpExchangeOptions): () => void {
  const { client, request, server, log } = options;
  let reader: Reader | undefined;
  let status = 0;
  let headers: ResponseHeaders = {};
  let broken: Cause | undefined;
  let isOver = false;
  let lingering: NodeJS.Timeout | undefined;
  const send = options.isStream ? client.stream.bind(client) : client.call.bind(client);
  let isQuoted = false;
  const take = (bytes: Buffer): Promise<void> | undefined =>
    receive(bytes, { server: options.server, log, isQuoted }, options.onMessage);
  const takeEvent = (bytes: Buffer): Promise<void> | undefined =>
    receive(bytes, options, (message) => {
      options.onMessage(message);
      if (options.endsWithResponse && message.kind === 'response' && !isOver)
        lingering ??= setTimeout(() => abort(), LINGER_MS);
    });
  const onBroken = (error: unknown): void => {
    broken = { code: 'MESSAGE_TOO_LARGE', limitBytes: SERVER_MESSAGE_LIMIT };
    options.trail?.forget(); // the same event would be replayed
    log.warn('server sent a message that is too large', { server, ...broken, error: String(error) });
    abort();
  };
  /** Reports the end once everything received has been handled. */
  const over = (end: HttpEnd): void => {
    isOver = true;
    clearTimeout(lingering);
    if (reader === undefined) options.onEnd(end);
    else reader.end(end, () => options.onEnd(end));
  };
  const abort = send(request, {
    start(givenStatus, givenHeaders, hold) {
      status = givenStatus;
      headers = givenHeaders;
      const type = String(headers['content-type'] ?? '').toLowerCase();
      const isSse = type.startsWith('text/event-stream');
      isQuoted = /^application\/(?:[\w.-]+\+)?json\b/.test(type);
      reader = isSse
        ? eventReader({ take: takeEvent, hold, onBroken }, options)
        : bodyReader(take, isHtml(headers));
      options.onStart?.(status, headers);
    },
    data(chunk) {
      if (broken !== undefined) return;
      try {
        reader?.push(chunk);
      } catch (error) {
        onBroken(error);
      }
    },
    end() {
      over({ kind: 'answered', status, headers });
    },
    error(cause, isUnreached) {
      over({ kind: isUnreached ? 'unreached' : 'broken', cause: broken ?? cause });
    },
  });
  return abort;
}

export function isHtml(headers: ResponseHeaders): boolean {
  return String(headers['content-type'] ?? '')
    .toLowerCase()
    .startsWith('text/html');
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export interface Reader {
  push(chunk: Buffer): void;
  /** Calls back when everything received has been taken. */
  end(end: HttpEnd, onTaken: () => void): void;
}

export type Take = (bytes: Buffer) => Promise<void> | undefined;

/** Reads an event stream, with a bounded share of each turn of the event loop. */
export function eventReader(
  to: {
    readonly take: Take;
    readonly hold: (isHeld: boolean) => void;
    /** Called when something in the stream is too large. */
    readonly onBroken: (error: unknown) => void;
  },
  { onEvent, trail }: Pick<HttpExchangeOptions, 'onEvent' | 'trail'>,
): Reader {
  let isBroken = false;
  const messages = new InOrder({ take: to.take, hold: (isHeld) => chunks.hold(isHeld) });
  const parser = new SseParser(({ event, data, id }) => {
    if (trail?.isNew(id) === false) return;
    trail?.advance();
    if (onEvent !== undefined && event !== 'message') onEvent(event, data);
    else if (data.length > 0) messages.push(data);
  }, SERVER_MESSAGE_LIMIT);
  // Parsing takes time too, even for lines without data.
  const chunks = new InOrder({
    hold: to.hold,
    take: (chunk) => {
      if (isBroken) return undefined;
      try {
        parser.push(chunk);
        trail?.follow(parser);
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

function bodyReader(take: Take, isPage: boolean): Reader {
  const body = new CollectedBytes();
  return {
    push(chunk) {
      body.add(chunk);
      if (body.length > SERVER_MESSAGE_LIMIT) throw new Error('body too large');
    },
    end(end, onTaken) {
      // A 202 carries no response, though some servers send a word with it. Neither does a body that breaks off.
      if (end.kind !== 'answered' || end.status === 202 || body.length === 0) {
        onTaken();
        return;
      }
      const bytes = body.take();
      // An error status or a web page may have any body; only take it if it looks like a message.
      const mayBeMessage = isSuccess(end.status) && !isPage;
      const taking = mayBeMessage || bytes.includes('"jsonrpc"') ? take(bytes) : undefined;
      if (taking === undefined) onTaken();
      else void taking.then(onTaken);
    },
  };
}

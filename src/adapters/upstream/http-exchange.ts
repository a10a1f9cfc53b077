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

/** How long in ms a stream may stay open after the response that it was for; its place in the pool is needed. */
const LINGER_MS = 1_000;

/** How an HTTP exchange ended, with or without having brought a response. */
export type HttpEnd =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: ResponseHeaders;
      /** It would need other credentials than there are. */
      readonly refusal?: Refusal;
    }
  /** No connection, so that nothing was sent. */
  | { readonly kind: 'unreached'; readonly cause: Cause }
  /** The connection broke. */
  | { readonly kind: 'broken'; readonly cause: Cause };

export interface HttpExchangeOptions {
  readonly client: HttpClient;
  readonly request: HttpRequest;
  /** Whether the answer may stay open for long, so that it must not take a place in the pool for calls. */
  readonly isStream: boolean;
  /** Whether nothing is to come after the response. A server may leave its stream open all the same. */
  readonly endsWithResponse: boolean;
  /** Where the stream is one that may be resumed: what came before is not given out again. */
  readonly trail?: StreamPosition | undefined;
  readonly server: string;
  readonly log: Log;
  readonly onMessage: (message: Message | NoMessage) => void;
  /** The answer's head is there. */
  readonly onStart?: (status: number, headers: ResponseHeaders) => void;
  /** For the older transport, whose events are not all messages. */
  readonly onEvent?: (event: string, data: Buffer) => void;
  readonly onEnd: (end: HttpEnd) => void;
}

/**
 * One HTTP request to an MCP server; its answer is JSON, or a stream of events, each with one message in it.
 * The returned function aborts it.
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
    options.trail?.forget(); // it would come again
    log.warn('server sent a message that is too large', { server, ...broken, error: String(error) });
    abort();
  };
  /** All that came is heard before the end is. */
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
      reader = isSse ? eventReader({ take: takeEvent, hold, onBroken }, options) : bodyReader(take);
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

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export interface Reader {
  push(chunk: Buffer): void;
  /** Calls back when all that came has been taken. */
  end(end: HttpEnd, onTaken: () => void): void;
}

export type Take = (bytes: Buffer) => Promise<void> | undefined;

/** Takes the bytes of an event stream, and no more of them in one turn of the event loop than leave others theirs. */
export function eventReader(
  to: {
    readonly take: Take;
    readonly hold: (isHeld: boolean) => void;
    /** It brings something that is too large. */
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
  // The lines of a stream cost time too, also those that say nothing.
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

function bodyReader(take: Take): Reader {
  const body = new CollectedBytes();
  return {
    push(chunk) {
      body.add(chunk);
      if (body.length > SERVER_MESSAGE_LIMIT) throw new Error('body too large');
    },
    end(end, onTaken) {
      // What comes with 202 is no answer; some servers put a word there. What breaks off is none either.
      if (end.kind !== 'answered' || end.status === 202 || body.length === 0) {
        onTaken();
        return;
      }
      const bytes = body.take();
      // An error status may come with anything; only what looks like a message is one.
      const taking = isSuccess(end.status) || bytes.includes('"jsonrpc"') ? take(bytes) : undefined;
      if (taking === undefined) onTaken();
      else void taking.then(onTaken);
    },
  };
}

import type { Cause } from '../../core/cause.ts';
import type { HttpRequest } from '../../platform/http-client.ts';
import { isSuccess, type HttpEnd, type HttpExchangeOptions } from './http-exchange.ts';
import { statusCause } from './http-posts.ts';
import { StreamPosition } from './stream-position.ts';

/** Sends one request, and gives what aborts it. */
export type Send = (options: HttpExchangeOptions) => () => void;

export interface ResumableOptions extends HttpExchangeOptions {
  /** Whether the response is there, or nobody waits for it any more. */
  readonly isOver: () => boolean;
  /** The GET that goes on with the stream after the event of this id; undefined: no stream of this era goes on. */
  readonly resume?: (lastId: string) => HttpRequest;
  /** A stream that was to go on is lost, so: before `onEnd` is called. */
  readonly onLost: (end: HttpEnd) => void;
}

export interface Resumable {
  /** Ends it, wherever it is. */
  abort(): void;
  /** It is over: no connection is opened any more. One that stands ends by itself. */
  rest(): void;
}

/** Stands for an exchange until there is one. */
export const NOT_BEGUN: Resumable = { abort: () => undefined, rest: () => undefined };

/**
 * One request over HTTP. Where the events of its answer have ids, and their stream ends or breaks before the response, it
 * is taken up again where it was, as often as that is needed (2025-11-25, basic/transports#resumability-and-redelivery).
 * `onEnd` is called once, when there is nothing to take up any more.
 */
export function exchangeResumably(options: ResumableOptions, send: Send): Resumable {
  if (options.resume === undefined) return { abort: send(options), rest: () => undefined };
  const { isOver, resume, onEnd, onLost, ...exchange } = options;
  const trail = new StreamPosition();
  const { onStart: _, ...following } = exchange;
  let isAborted = false;
  let first: HttpEnd | undefined;
  let waiting: NodeJS.Timeout | undefined;
  const again = (): void => {
    waiting = undefined;
    trail.begin();
    const request = resume(trail.lastId ?? '');
    abort = send({ ...following, request, isStream: true, trail, onEnd: ended });
  };
  const ended = (end: HttpEnd): void => {
    const mayGoOn = trail.lastId !== undefined && isWorthMore(end);
    if (isAborted || isOver()) onEnd(end);
    else if (mayGoOn) {
      first ??= end;
      waiting = setTimeout(again, trail.waitMs);
    } else if (first === undefined) onEnd(end);
    else {
      onLost(end);
      // Whatever the server says to a stream, the request itself had reached it.
      onEnd({
        kind: 'broken',
        cause: { code: 'STREAM_NOT_RESUMED', first: causeOf(first), last: causeOf(end) },
      });
    }
  };
  let abort = send({ ...exchange, trail, onEnd: ended });
  return {
    abort: () => {
      isAborted = true;
      if (waiting === undefined) abort();
      else clearTimeout(waiting);
    },
    rest: () => clearTimeout(waiting),
  };
}

/** What has broken, has ended, or is in trouble for a while may go on; what was refused may not. */
function isWorthMore(end: HttpEnd): boolean {
  if (end.kind === 'answered') return isSuccess(end.status) || end.status >= 500;
  return end.kind === 'broken';
}

function causeOf(end: HttpEnd): Cause {
  return end.kind === 'answered' ? statusCause(end) : end.cause;
}

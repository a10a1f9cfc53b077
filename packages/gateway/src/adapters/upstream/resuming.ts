import type { Cause } from '../../core/cause.ts';
import type { HttpRequest } from '@assay-mcp/kit/platform/http-client';
import { isSuccess, type HttpEnd, type HttpExchangeOptions } from './http-exchange.ts';
import { toStatusCause } from './http-posts.ts';
import { StreamPosition } from './stream-position.ts';

/** Sends one request and returns a function that aborts it. */
export type Send = (options: HttpExchangeOptions) => () => void;

export interface ResumableOptions extends HttpExchangeOptions {
  /** Whether the response has arrived or is no longer awaited. */
  readonly isOver: () => boolean;
  /** The GET that resumes the stream after the given event. Undefined if streams of this era cannot be resumed. */
  readonly resume: ((lastId: string) => HttpRequest) | undefined;
  /** Called before `onEnd` when a stream could not be resumed. */
  readonly onLost: (end: HttpEnd) => void;
}

export interface Resumable {
  /** Ends the exchange, whatever its state. */
  abort(): void;
  /** Opens no more connections. An open one ends by itself. */
  rest(): void;
}

/** Placeholder until the exchange starts. */
export const NOT_BEGUN: Resumable = { abort: () => undefined, rest };

function rest(): void {
  // It opens no connections by itself.
}

/**
 * One request over HTTP. If its answer's events have ids and the stream ends or breaks before the response, it is
 * resumed as often as necessary (2025-11-25, basic/transports#resumability-and-redelivery). `onEnd` is called once,
 * when there is nothing left to resume.
 */
export function exchangeResumably(options: ResumableOptions, send: Send): Resumable {
  if (options.resume === undefined) return { abort: send(options), rest };
  const { isOver, resume, onEnd, onLost, ...exchange } = options;
  const streamPosition = new StreamPosition();
  const { onStart, ...following } = exchange;
  let isAborted = false;
  let first: HttpEnd | undefined;
  let waiting: NodeJS.Timeout | undefined;
  const again = (): void => {
    waiting = undefined;
    streamPosition.begin();
    const request = resume(streamPosition.lastId ?? '');
    abort = send({ ...following, request, isStream: true, streamPosition, onEnd: ended });
  };
  const ended = (end: HttpEnd): void => {
    const mayGoOn = streamPosition.lastId !== undefined && isWorthMore(end);
    if (isAborted || isOver()) onEnd(end);
    else if (mayGoOn) {
      first ??= end;
      waiting = setTimeout(again, streamPosition.waitMs);
    } else if (first === undefined) onEnd(end);
    else {
      onLost(end);
      // However the server answered the stream, it had received the request itself.
      onEnd({
        kind: 'broken',
        cause: { code: 'STREAM_NOT_RESUMED', first: causeOf(first), last: causeOf(end) },
      });
    }
  };
  let abort = send({ ...exchange, streamPosition, onEnd: ended });
  return {
    abort: () => {
      isAborted = true;
      if (waiting === undefined) abort();
      else clearTimeout(waiting);
    },
    rest: () => clearTimeout(waiting),
  };
}

/** A stream that broke, ended or met a server error can be resumed; one that was refused cannot. */
function isWorthMore(end: HttpEnd): boolean {
  if (end.kind === 'answered') return isSuccess(end.status) || end.status >= 500;
  return end.kind === 'broken';
}

function causeOf(end: HttpEnd): Cause {
  return end.kind === 'answered' ? toStatusCause(end) : end.cause;
}

import type { RunEvents } from '../../api/run.ts';
import type { VerificationEvents } from '../../api/verification.ts';

export interface SentEvent {
  readonly name: keyof RunEvents | keyof VerificationEvents;
  readonly data: unknown;
}

/** The event stream of a run or a verification. */
export interface RunStream {
  readonly body: ReadableStream<Uint8Array>;
  send(event: SentEvent): void;
  /** Sends a message that may be dropped if the reader is slow. */
  note(event: SentEvent): void;
  /** Sends the last event. */
  end(event: SentEvent): void;
}

/** With more unread bytes than this, messages are dropped. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Interval of keep-alive comments, so that proxies do not close the connection of a quiet run. */
const KEEP_ALIVE_MS = 15_000;

/** `onGone`: the reader has closed the connection. */
export function runStream(onGone: () => void): RunStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let dropped = 0;
  const write = (text: string): void => controller?.enqueue(encoder.encode(text));
  const send = ({ name, data }: SentEvent): void =>
    write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const isFull = (): boolean => (controller?.desiredSize ?? 0) <= 0;
  const keepAlive = setInterval(() => {
    if (!isFull()) write(': still running\n\n');
  }, KEEP_ALIVE_MS);
  const close = (): void => {
    clearInterval(keepAlive);
    controller = undefined;
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given;
        write(': the run has begun\n\n');
      },
      cancel: () => {
        close();
        onGone();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  return {
    body,
    send,
    note: (event) => {
      if (isFull()) dropped += 1;
      else send(event);
    },
    end: (event) => {
      if (dropped > 0) send({ name: 'dropped', data: { count: dropped } });
      send(event);
      controller?.close();
      close();
    },
  };
}

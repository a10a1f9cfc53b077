import type { Duplex } from 'node:stream';
import { guardCallback, type Peer } from './guarded.ts';

export interface ReadUntilOptions {
  readonly end: string;
  readonly maxBytes: number;
  readonly limitMs: number;
  readonly peer: Peer;
}

/**
 * Reads text up to `end` and leaves what follows in the stream, which is paused then. Undefined if the stream ends, or
 * `end` does not arrive in time or within `maxBytes`.
 */
export function readUntil(
  stream: Duplex,
  { end, maxBytes, limitMs, peer }: ReadUntilOptions,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let read: Buffer = Buffer.alloc(0);
  let isDone = false;
  const done = (text: string | undefined): void => {
    isDone = true;
    clearTimeout(timer);
    stream.off('close', onEnd).off('end', onEnd).pause();
    resolve(text);
  };
  const onEnd = (): void => done(undefined);
  const timer = setTimeout(onEnd, limitMs);
  stream.on(
    'data',
    guardCallback(peer, (chunk: Buffer) => {
      if (isDone) return;
      read = Buffer.concat([read, chunk]);
      const at = read.indexOf(end);
      if (at < 0 && read.length > maxBytes) onEnd();
      if (at < 0) return;
      done(read.toString('utf8', 0, at));
      const rest = read.subarray(at + end.length);
      if (rest.length > 0) stream.unshift(rest);
    }),
  );
  stream.once('close', onEnd).once('end', onEnd).resume();
  return promise;
}

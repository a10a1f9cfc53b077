import type { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../../core/collected-bytes.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** Reads a whole body of at most `limitBytes`. `undefined`: the client went away before its end. */
export function readBody(
  request: IncomingMessage,
  limitBytes: number,
): Promise<Result<Buffer, Refusal> | undefined> {
  const tooLarge = err({ code: 'MESSAGE_TOO_LARGE', limitBytes } as const);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limitBytes) return Promise.resolve(tooLarge);
  return new Promise((resolve) => {
    const body = new CollectedBytes();
    request.on('data', (chunk: Buffer) => {
      body.add(chunk);
      if (body.length <= limitBytes) return;
      request.removeAllListeners('data').pause();
      body.clear();
      resolve(tooLarge);
    });
    request.on('end', () => resolve(ok(body.take())));
    request.on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
  });
}

import type { IncomingMessage } from 'node:http';
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
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) {
        request.removeAllListeners('data').pause();
        chunks.length = 0;
        resolve(tooLarge);
      } else chunks.push(chunk);
    });
    request.on('end', () => {
      const [first] = chunks;
      resolve(ok(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)));
    });
    request.on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
  });
}

import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

export interface Decoded {
  readonly body: Buffer;
  /** Whether there is more of it. */
  readonly isCut: boolean;
}

/**
 * A body without its content codings (RFC 9110, section 8.4), of which no more than `maxBytes` ever exist. Undefined where
 * a coding is not known, or the bytes are not what it says. A body that ends early is decoded as far as it goes.
 */
export async function decodeWithin(
  body: Buffer,
  codings: string,
  maxBytes: number,
): Promise<Decoded | undefined> {
  const names = codings.split(',').map((name) => name.trim().toLowerCase());
  let decoded: Decoded = { body, isCut: false };
  // The coding that was applied last is named last.
  for (const name of names.reverse()) {
    if (name === '' || name === 'identity') continue;
    const decoder = DECODERS.get(name)?.();
    const step = decoder && (await decodeStep(decoded.body, decoder, maxBytes));
    if (step === undefined) return undefined;
    decoded = { body: step.body, isCut: decoded.isCut || step.isCut };
  }
  return decoded;
}

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', () => createGunzip({ finishFlush: Z_SYNC_FLUSH })],
  ['x-gzip', () => createGunzip({ finishFlush: Z_SYNC_FLUSH })],
  ['deflate', () => createInflate({ finishFlush: Z_SYNC_FLUSH })],
  ['br', () => createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH })],
]);

function decodeStep(body: Buffer, decoder: Transform, maxBytes: number): Promise<Decoded | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    decoder.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) return;
      resolve({ body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: true });
      decoder.destroy();
    });
    decoder.on('end', () => resolve({ body: Buffer.concat(chunks), isCut: false }));
    decoder.on('error', () => resolve(undefined));
    decoder.end(body);
  });
}

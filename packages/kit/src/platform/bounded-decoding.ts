import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Cancellation } from '../cancellation.ts';
import { guardCallback, type Peer } from './guarded.ts';

export interface Decoded {
  readonly body: Buffer;
  /** Whether the body was truncated. */
  readonly isCut: boolean;
}

export interface DecodingLimits {
  readonly maxBytes: number;
  readonly cancellation?: Cancellation | undefined;
}

/** Real servers use at most two, and each may cost as much as the maximum body. */
const MAX_CODINGS = 2;

/**
 * Decodes a body's content codings (RFC 9110, section 8.4), never holding more than `maxBytes` of the result. Undefined
 * if a coding is unknown, there are more than two, the bytes are invalid, or the call is cancelled. A body that ends early
 * is decoded as far as it goes.
 */
export async function decodeWithin(
  body: Buffer,
  codings: string,
  limits: DecodingLimits,
): Promise<Decoded | undefined> {
  const names = codings
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MAX_CODINGS) return undefined;
  let decoded: Decoded = { body, isCut: false };
  // Codings are listed in the order in which they were applied.
  for (const name of names.reverse()) {
    const decoder = DECODERS.get(name)?.();
    const step = decoder && (await decodeStep(decoded.body, decoder, limits));
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

function decodeStep(
  body: Buffer,
  decoder: Transform,
  { maxBytes, cancellation }: DecodingLimits,
): Promise<Decoded | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (decoded: Decoded | undefined): void => {
      // First, so that no fault below leaves the caller waiting.
      resolve(decoded);
      decoder.destroy();
      cancellation?.removeListener(stop);
    };
    const stop = (): void => end(undefined);
    const peer: Peer = { name: 'body of a response', end: stop };
    decoder.on(
      'data',
      guardCallback(peer, (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) end({ body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: true });
      }),
    );
    decoder.on(
      'end',
      guardCallback(peer, () => end({ body: Buffer.concat(chunks), isCut: false })),
    );
    decoder.on('error', guardCallback(peer, stop));
    if (cancellation?.isCancelled === true) return stop();
    cancellation?.addListener(stop);
    decoder.end(body);
  });
}

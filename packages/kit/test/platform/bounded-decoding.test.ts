import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Cancellation } from '../../src/cancellation.ts';
import { decodeWithin } from '../../src/platform/bounded-decoding.ts';

const text = Buffer.from('hello hello hello hello');

it.each([
  ['gzip', gzipSync(text)],
  ['X-GZIP', gzipSync(text)],
  ['deflate', deflateSync(text)],
  ['br', brotliCompressSync(text)],
  ['identity', text],
  ['', text],
  ['br, gzip', gzipSync(brotliCompressSync(text))],
  ['identity, br, , gzip', gzipSync(brotliCompressSync(text))],
])('reads the coding %s', async (coding, body) => {
  expect(await decodeWithin(body, coding, { maxBytes: 100 })).toEqual({ body: text, isCut: false });
});

it('decompresses only up to the limit, whatever the body contains', async () => {
  const bomb = gzipSync(gzipSync(Buffer.alloc(100_000_000)));
  const { body, isCut } = (await decodeWithin(bomb, 'gzip, gzip', { maxBytes: 1_000_000 }))!;
  expect([body.length, isCut]).toEqual([1_000_000, true]);
  expect(await decodeWithin(gzipSync(text), 'gzip', { maxBytes: text.length })).toEqual({
    body: text,
    isCut: false,
  });
});

it('reads the beginning of a truncated body', async () => {
  const packed = gzipSync(Buffer.from('x'.repeat(100_000)));
  const { body } = (await decodeWithin(packed.subarray(0, packed.length - 20), 'gzip', {
    maxBytes: 1_000_000,
  }))!;
  expect(body.toString()).toMatch(/^x{1000,}$/);
});

it('rejects unknown codings and invalid data', async () => {
  expect(await decodeWithin(text, 'rot13', { maxBytes: 100 })).toBeUndefined();
  expect(await decodeWithin(text, 'constructor', { maxBytes: 100 })).toBeUndefined();
  expect(await decodeWithin(text, 'gzip', { maxBytes: 100 })).toBeUndefined();
});

it('rejects a body with more than two codings', async () => {
  const thrice = gzipSync(gzipSync(gzipSync(text)));
  expect(await decodeWithin(thrice, 'gzip, gzip, gzip', { maxBytes: 100 })).toBeUndefined();
});

it('stops if the call is cancelled', async () => {
  const bomb = gzipSync(Buffer.alloc(300_000_000));
  const cancellation = new Cancellation();
  const decoding = decodeWithin(bomb, 'gzip', { maxBytes: 2 ** 30, cancellation });
  setImmediate(() => cancellation.cancel());
  expect(await decoding).toBeUndefined();
  expect(await decodeWithin(bomb, 'gzip', { maxBytes: 100, cancellation })).toBeUndefined();
});

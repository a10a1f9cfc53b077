import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CollectedBytes } from '../src/collected-bytes.ts';

it('returns what was added, whatever length was announced', () => {
  const pieces = fc.array(
    fc.oneof(fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ minLength: 4_000, maxLength: 9_000 })),
    {
      maxLength: 12,
    },
  );
  fc.assert(
    fc.property(
      pieces,
      fc.oneof(fc.nat(40_000), fc.constant(Number.NaN), fc.constant('exact')),
      (parts, announced) => {
        const all = Buffer.concat(parts);
        const collected = new CollectedBytes(announced === 'exact' ? all.length : announced);
        for (const part of parts) collected.add(Buffer.from(part));
        expect(collected.length).toBe(all.length);
        expect(collected.take().equals(all)).toBe(true);
        expect(collected.length).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
});

it('takes memory for what has arrived, not for what was announced', () => {
  const collected = new CollectedBytes(1_000_000_000);
  collected.add(Buffer.alloc(100, 1));
  collected.add(Buffer.alloc(100, 2));
  expect(collected.take().buffer.byteLength).toBeLessThan(10_000);
});

it('keeps no second copy of a body whose length was announced', () => {
  const collected = new CollectedBytes(200_000);
  for (let at = 0; at < 4; at += 1) collected.add(Buffer.alloc(50_000, at));
  const whole = collected.take();
  expect([whole.length, whole.buffer.byteLength]).toEqual([200_000, 200_000]);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shorten, truncateText } from '../src/shorten.ts';

it.each([
  ['', 0, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc…'],
  ['ab🎉', 4, 'ab🎉'],
  ['ab🎉', 3, 'ab…'],
  ['🎉🎉', 2, '🎉…'],
  ['🎉', 0, '…'],
])('%j with at most %i characters is %j', (text, maxLength, short) => {
  expect(shorten(text, maxLength)).toBe(short);
});

it('well-formed texts stay well-formed, and lose no more than half a pair beyond the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'é', '🎉', '𐀀') }), fc.nat(50), (text, maxLength) => {
      const start = truncateText(text, maxLength);
      expect(start.isWellFormed()).toBe(true);
      expect(text.startsWith(start)).toBe(true);
      expect(start.length).toBeLessThanOrEqual(maxLength);
      expect(start.length).toBeGreaterThanOrEqual(Math.min(text.length, maxLength) - 1);
      expect(shorten(text, maxLength)).toBe(text.length > maxLength ? `${start}…` : text);
    }),
  );
});

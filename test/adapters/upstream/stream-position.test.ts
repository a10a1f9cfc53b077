import { describe, expect, it } from 'vitest';
import { StreamPosition } from '../../../src/adapters/upstream/stream-position.ts';

describe('the delay before a stream is resumed', () => {
  /** Delays after consecutive connections without data, if the server asks for `retryMs`. */
  const check = (retryMs: number | undefined, expected: readonly number[]): void => {
    const trail = new StreamPosition();
    trail.follow({ lastId: 'x', retryMs });
    const waits = expected.map((_, at) => {
      if (at > 0) trail.begin();
      return trail.waitMs;
    });
    expect([retryMs, waits]).toEqual([retryMs, expected]);
  };

  it('is what the server asks for, or half a second, and grows if that fails', () => {
    check(undefined, [500, 500, 1_000, 2_000, 4_000]);
    check(200, [200, 200, 400, 800]);
    check(0, [0, 50, 100, 200]);
  });

  it('is never less than requested, and limited if nothing or nonsense was requested', () => {
    check(60_000, [60_000, 60_000, 60_000]);
    check(2 ** 40, [300_000, 300_000]);
    const trail = new StreamPosition();
    for (let vain = 0; vain < 2_000; vain += 1) trail.begin();
    expect(trail.waitMs).toBe(30_000);
  });

  it('is short again after something arrived', () => {
    const trail = new StreamPosition();
    for (let vain = 0; vain < 5; vain += 1) trail.begin();
    trail.advance();
    expect(trail.waitMs).toBe(500);
  });
});

describe('the position in a stream', () => {
  it('is the last id that a header can hold', () => {
    const trail = new StreamPosition();
    const placeAfter = (lastId: string | undefined): string | undefined => {
      trail.follow({ lastId, retryMs: undefined });
      return trail.lastId;
    };
    expect(placeAfter(undefined)).toBeUndefined();
    expect(placeAfter('a b/1')).toBe('a b/1');
    expect(placeAfter(undefined)).toBe('a b/1');
    for (const none of ['', ' a', 'a ', 'é', 'a\tb', 'x'.repeat(1_025)])
      expect(placeAfter(none)).toBeUndefined();
    expect(placeAfter('x'.repeat(1_024))).toBe('x'.repeat(1_024));
    trail.forget();
    expect(trail.lastId).toBeUndefined();
  });

  it('includes events of earlier connections, the last few thousand of them', () => {
    const trail = new StreamPosition();
    const areNew = (...ids: readonly (string | undefined)[]): readonly boolean[] =>
      ids.map((id) => trail.isNew(id));
    expect(areNew('a', 'b', 'a', undefined, '')).toEqual([true, true, true, true, true]);
    trail.begin();
    expect(areNew('a', 'c', 'b', 'c', undefined, '')).toEqual([false, true, false, true, true, true]);
    trail.begin();
    expect(areNew('a', 'b', 'c', 'd')).toEqual([false, false, false, true]);
    for (let n = 0; n < 5_000; n += 1) trail.isNew(`n${n}`);
    trail.begin();
    expect(areNew('a', 'n4999')).toEqual([true, false]);
  });
});

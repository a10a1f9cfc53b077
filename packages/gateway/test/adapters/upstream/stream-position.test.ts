import { describe, expect, it } from 'vitest';
import { StreamPosition } from '../../../src/adapters/upstream/stream-position.ts';

describe('the delay before a stream is resumed', () => {
  /** Delays after consecutive connections without data, if the server asks for `retryMs`. */
  const check = (retryMs: number | undefined, expected: readonly number[]): void => {
    const position = new StreamPosition();
    position.follow({ lastId: 'x', retryMs });
    const waits = expected.map((_, at) => {
      if (at > 0) position.begin();
      return position.waitMs;
    });
    expect([retryMs, waits]).toEqual([retryMs, expected]);
  };

  it('is what the server asks for, by default half a second, and grows after failures', () => {
    check(undefined, [500, 500, 1_000, 2_000, 4_000]);
    check(200, [200, 200, 400, 800]);
    check(0, [0, 50, 100, 200]);
  });

  it('is capped at 30 s, or at a longer requested delay of up to 5 min', () => {
    check(60_000, [60_000, 60_000, 60_000]);
    check(2 ** 40, [300_000, 300_000]);
    const position = new StreamPosition();
    for (let attempt = 0; attempt < 2_000; attempt += 1) position.begin();
    expect(position.waitMs).toBe(30_000);
  });

  it('is reset when data arrives', () => {
    const position = new StreamPosition();
    for (let attempt = 0; attempt < 5; attempt += 1) position.begin();
    position.advance();
    expect(position.waitMs).toBe(500);
  });
});

describe('the position in a stream', () => {
  it('is the last id that fits into a header', () => {
    const position = new StreamPosition();
    const placeAfter = (lastId: string | undefined): string | undefined => {
      position.follow({ lastId, retryMs: undefined });
      return position.lastId;
    };
    expect(placeAfter(undefined)).toBeUndefined();
    expect(placeAfter('a b/1')).toBe('a b/1');
    expect(placeAfter(undefined)).toBe('a b/1');
    for (const none of ['', ' a', 'a ', 'é', 'a\tb', 'x'.repeat(1_025)])
      expect(placeAfter(none)).toBeUndefined();
    expect(placeAfter('x'.repeat(1_024))).toBe('x'.repeat(1_024));
    position.forget();
    expect(position.lastId).toBeUndefined();
  });

  it('includes the last few thousand events of earlier connections', () => {
    const position = new StreamPosition();
    const areNew = (...ids: readonly (string | undefined)[]): readonly boolean[] =>
      ids.map((id) => position.isNew(id));
    expect(areNew('a', 'b', 'a', undefined, '')).toEqual([true, true, true, true, true]);
    position.begin();
    expect(areNew('a', 'c', 'b', 'c', undefined, '')).toEqual([false, true, false, true, true, true]);
    position.begin();
    expect(areNew('a', 'b', 'c', 'd')).toEqual([false, false, false, true]);
    for (let n = 0; n < 5_000; n += 1) position.isNew(`n${n}`);
    position.begin();
    expect(areNew('a', 'n4999')).toEqual([true, false]);
  });
});

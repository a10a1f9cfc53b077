import { expect, it } from 'vitest';
import { TokenBucket } from '../src/token-bucket.ts';

it('a token bucket allows a burst, then the average rate, and never more than its capacity', () => {
  const bucket = new TokenBucket({ perSecond: 2, capacity: 3, nowMs: 0 });
  const take = (nowMs: number): readonly boolean[] => [1, 2, 3, 4].map(() => bucket.take(nowMs));
  expect(take(0)).toEqual([true, true, true, false]);
  expect(take(499)).toEqual([false, false, false, false]);
  expect(take(500)).toEqual([true, false, false, false]);
  expect(take(60_000)).toEqual([true, true, true, false]);
});

it('a token bucket takes nothing for a cost that it cannot pay, and a clock that is set back refills nothing', () => {
  const bucket = new TokenBucket({ perSecond: 1, capacity: 3, nowMs: 1_000 });
  expect([bucket.take(1_000, 2), bucket.take(1_000, 2), bucket.take(500, 2), bucket.take(500)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

import { expect, it } from 'vitest';
import { OncePerPeriod } from '../../src/core/once-per-period.ts';

it('admits a key once per period, and counts how often it came in between', () => {
  const once = new OncePerPeriod(1_000, 10);
  const admitted = [0, 1, 999, 1_000, 1_001, 5_000].map((nowMs) => once.admit('a', nowMs));
  expect(admitted).toEqual([0, undefined, undefined, 2, undefined, 1]);
  expect(once.admit('b', 5_000)).toBe(0);
});

it('tells whether a key is due without admitting it', () => {
  const once = new OncePerPeriod(1_000, 10);
  expect([once.isDue('a', 0), once.isDue('a', 0)]).toEqual([true, true]);
  once.admit('a', 0);
  expect([once.isDue('a', 999), once.isDue('a', 1_000)]).toEqual([false, true]);
});

it('lets new keys share one turn while it remembers as many as it may', () => {
  const once = new OncePerPeriod(1_000, 2);
  expect(['a', 'b', 'c', 'd', 'a'].map((key) => once.admit(key, 0))).toEqual([0, 0, 0, undefined, undefined]);
  expect(['e', 'f', 'e'].map((key) => once.admit(key, 1_000))).toEqual([0, 0, undefined]);
});

it('forgets what was admitted longest ago, also if other keys were admitted again', () => {
  const once = new OncePerPeriod(1_000, 2);
  expect(once.admit('a', 0)).toBe(0);
  expect(once.admit('b', 500)).toBe(0);
  expect(once.admit('a', 1_000)).toBe(0);
  expect(['c', 'd'].map((key) => once.admit(key, 1_500))).toEqual([0, 0]);
  expect(once.admit('a', 1_500)).toBeUndefined();
});

import { expect, it } from 'vitest';
import { computeBackoffMs } from '../src/backoff.ts';

it.each<[number, Partial<Parameters<typeof computeBackoffMs>[1]>, number]>([
  [1, {}, 100],
  [2, {}, 200],
  [4, {}, 800],
  [4, { maxMs: 700 }, 700],
  [10_000, { maxMs: 700 }, 700],
  [4, { maxMs: 700, chance: 0 }, 350],
  [2, { chance: 0.5 }, 150],
])('after %i failures, with %j, the wait is %i ms', (failures, options, ms) => {
  expect(computeBackoffMs(failures, { firstMs: 100, ...options })).toBe(ms);
});

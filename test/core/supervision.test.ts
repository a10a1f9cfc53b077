import { expect, it } from 'vitest';
import { restartDelayMs } from '../../src/core/supervision.ts';

it('the wait before a restart doubles with each failure, up to half a minute', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 5_000].map((failures) => restartDelayMs(failures, 0.5));
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});
it('servers that ended together start at most 20 % earlier or later', () => {
  expect([restartDelayMs(1, 0), restartDelayMs(1, 1)]).toEqual([200, 300]);
  expect([restartDelayMs(20, 0), restartDelayMs(20, 1)]).toEqual([24_000, 36_000]);
});

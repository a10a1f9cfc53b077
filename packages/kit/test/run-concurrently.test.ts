import { expect, it } from 'vitest';
import { runConcurrently } from '../src/run-concurrently.ts';
import { until } from '../../../test/support/endings.ts';

it('as many items as the limit run at a time, and their outcomes keep the order', async () => {
  let running = 0;
  let most = 0;
  const done: string[] = [];
  const outcomes = await runConcurrently(['a', 'b', 'c', 'd', 'e'], 2, async (item) => {
    most = Math.max(most, (running += 1));
    await until('another has started', () => most > 1 || undefined);
    running -= 1;
    done.push(item);
    return item.toUpperCase();
  });
  expect(outcomes).toEqual(['A', 'B', 'C', 'D', 'E']);
  expect([done.toSorted(), most]).toEqual([['a', 'b', 'c', 'd', 'e'], 2]);
});

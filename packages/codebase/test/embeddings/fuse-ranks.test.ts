import { expect, test } from 'vitest';
import { fuseRanks } from '../../src/embeddings/fuse-ranks.ts';

test('an id ranked high in both lists precedes one that leads a single list', () => {
  const fused = fuseRanks([
    [1, 2, 3],
    [4, 2, 5],
  ]);
  expect(fused.map(({ id }) => id)).toEqual([2, 1, 4, 3, 5]);
  expect(fused[0]?.score).toBeCloseTo(61 / 62);
  expect(fused[2]?.ranks).toEqual([undefined, 1]);
});

test('the score is 1 for an id that is first in every list, and 0.5 if it is first in one of two', () => {
  expect(fuseRanks([[7], [7]])).toEqual([{ id: 7, score: 1, ranks: [1, 1] }]);
  expect(fuseRanks([[7], []])[0]?.score).toBe(0.5);
  expect(fuseRanks([[], []])).toEqual([]);
});

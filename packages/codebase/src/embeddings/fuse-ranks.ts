export interface FusedRank {
  readonly id: number;
  /** Above 0; 1 if the id comes first in every list. */
  readonly score: number;
  /** One-based rank in each list; undefined if the list lacks the id. */
  readonly ranks: readonly (number | undefined)[];
}

/** Dampens the lead of the first ranks, as in the paper that introduced the method (Cormack et al., SIGIR 2009). */
const K = 60;

/**
 * Reciprocal rank fusion of lists of ids, best first: an id scores the sum of 1 / (60 + rank), here divided by the best
 * possible sum. Only ranks count, so scores of different kinds need no common scale. On a tie, the id that an earlier
 * list ranks higher comes first.
 */
export function fuseRanks(lists: readonly (readonly number[])[]): readonly FusedRank[] {
  const ranks = new Map<number, (number | undefined)[]>();
  lists.forEach((list, listIndex) => {
    list.forEach((id, index) => {
      const known = ranks.get(id) ?? lists.map(() => undefined);
      known[listIndex] ??= index + 1;
      ranks.set(id, known);
    });
  });
  const best = lists.length / (K + 1);
  // Ids were added list by list, and the sort is stable.
  return [...ranks]
    .map(([id, own]) => ({ id, score: sumOf(own) / best, ranks: own }))
    .sort((a, b) => b.score - a.score);
}

function sumOf(ranks: readonly (number | undefined)[]): number {
  return ranks.reduce<number>((sum, rank) => sum + (rank === undefined ? 0 : 1 / (K + rank)), 0);
}

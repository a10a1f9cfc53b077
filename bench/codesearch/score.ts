import type { TiedRank } from './baselines.ts';

/** Results that count. */
export const DEPTH = 10;

export interface Score {
  /** Mean reciprocal rank within the first ten. */
  readonly mrr: number;
  /** Share of queries whose function is among the first ten. */
  readonly recall: number;
}

/** The mean over queries; ties count as the mean over their ranks. */
export function scoreOf(ranks: readonly (TiedRank | undefined)[]): Score {
  let mrr = 0;
  let recall = 0;
  for (const rank of ranks) {
    if (rank === undefined) continue;
    const size = rank.to - rank.from + 1;
    for (let at = rank.from; at <= Math.min(rank.to, DEPTH); at += 1) {
      mrr += 1 / at / size;
      recall += 1 / size;
    }
  }
  return { mrr: mrr / ranks.length, recall: recall / ranks.length };
}

export function rankAmong(found: readonly boolean[]): TiedRank | undefined {
  const index = found.slice(0, DEPTH).indexOf(true);
  return index < 0 ? undefined : { from: index + 1, to: index + 1 };
}

import { compoundOf, wordsOf } from '../terms.ts';
import type { Candidate } from './candidates.ts';
import type { Identifier, ParsedQuery } from './parse-query.ts';
import { isDefinition, definitionRank } from './definitions.ts';
import { stemOf } from './stem.ts';

export interface Ranked {
  readonly candidate: Candidate;
  /** 0 to 1, comparable within one search. */
  readonly score: number;
  readonly definition: Identifier | undefined;
}

/** A result in its final place. */
export interface Ordered extends Ranked {
  /** Whether it contains a text that was asked for character by character. */
  readonly literal: boolean;
  /** Whether its embedding is near that of the query. */
  readonly byMeaning: boolean;
}

export interface RankingWeights {
  /** What a name counts whose words are all in the query, beside the best BM25 of the search. */
  readonly name: number;
  /** What remains of the score of a test. */
  readonly test: number;
}

/** Chosen with `bench/codesearch`. */
export const WEIGHTS: RankingWeights = { name: 0.3, test: 0.3 };

/**
 * Orders the candidates of a query:
 * 1. definitions of its identifiers, those with the right parent and spelling first;
 * 2. the others by BM25, as a share of the best one, and by the share of their name's words that the query has.
 *
 * Tests come later unless the query asks for them. Ties are broken by path and line.
 */
export function rank(
  query: ParsedQuery,
  candidates: readonly Candidate[],
  weights: RankingWeights = WEIGHTS,
): readonly Ranked[] {
  const words = new Set(query.words.map(stemOf));
  const part = query.isOneIdentifier ? compoundOf(query.identifiers[0]?.name ?? '') : '';
  const best = candidates.reduce((most, { bm25 }) => Math.max(most, bm25), 0);
  const scored = candidates.map((candidate) => {
    const bm25 = best === 0 ? 0 : candidate.bm25 / best;
    const share = Math.max(nameShare(candidate, words), part === '' ? 0 : partShare(candidate, part));
    const score = (bm25 + weights.name * share) / (1 + weights.name);
    const factor = candidate.isTest && !query.asksForTests ? weights.test : 1;
    const definition = query.identifiers.find((identifier) => isDefinition(candidate, identifier));
    return {
      ranked: { candidate, score: score * factor, definition },
      tier: definition === undefined ? 0 : definitionRank(candidate, definition),
    };
  });
  return scored
    .sort((one, other) => other.tier - one.tier || compareRanked(one.ranked, other.ranked))
    .map(({ ranked }) => ranked);
}

function compareRanked(one: Ranked, other: Ranked): number {
  return other.score - one.score || comparePlaces(one.candidate, other.candidate);
}

/** Also how equal results are ordered, so that a search always answers the same. */
export function comparePlaces(one: Candidate, other: Candidate): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1;
  return one.startLine - other.startLine || one.ordinal - other.ordinal || one.id - other.id;
}

function nameShare({ symbol }: Candidate, words: ReadonlySet<string>): number {
  if (symbol === null) return 0;
  const names = new Set(wordsOf(symbol).map(stemOf));
  if (names.size === 0) return 0;
  let found = 0;
  for (const name of names) if (words.has(name)) found += 1;
  return found / names.size;
}

/** How much of a name an identifier is that the name contains. */
function partShare({ symbol }: Candidate, part: string): number {
  const name = compoundOf(symbol ?? '');
  return name.includes(part) ? part.length / name.length : 0;
}

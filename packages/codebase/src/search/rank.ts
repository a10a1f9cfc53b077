import { toCompoundTerm, splitIdentifier } from '../terms.ts';
import type { Candidate } from './candidates.ts';
import type { Definition } from './definitions.ts';
import type { ParsedQuery } from './parse-query.ts';
import { createPathFactor, type PathFactors } from './path-factor.ts';
import { stemWord } from '@assay-mcp/kit/stem-word';

export interface Ranked {
  readonly candidate: Candidate;
  /** Whether it is in a file that the query names. */
  readonly isInFile: boolean;
  /** Whether it contains a text that the query asks for exactly. */
  readonly literal: boolean;
  /** 0 to 1, comparable within one search. */
  readonly score: number;
  /** The identifier of the query that it defines. */
  readonly definition: Definition | undefined;
}

/** A result in its final order. */
export interface Ordered extends Ranked {
  /** Whether its embedding is near that of the query. */
  readonly byMeaning: boolean;
}

/** What is added to the BM25 score of a candidate, which is 1 for the best of the search. */
export interface RankingWeights {
  /** For a name whose words are all in the query. */
  readonly name: number;
  /** For a name with one of the first two words of the query, which usually say what the code does. */
  readonly firstWords: number;
  /** In a longer query: for a definition of one of its identifiers, and for quoted text. */
  readonly named: number;
  /** For classes, constants and blocks, unless the query asks for them: functions answer more questions. */
  readonly notFunction: number;
  /** Factor for the score of a test, unless the query asks for tests. */
  readonly test: number;
  /** Deduction for each better result with the same name: overrides and copies add little. */
  readonly repeated: number;
  /** For the file with the most evidence in all its candidates; the others in proportion. */
  readonly file: number;
  /** Each further candidate of a file counts this much of the one before. */
  readonly fileDecay: number;
  /** Exponent of how telling the words of a name are among the candidates; 0: all alike. */
  readonly telling: number;
  readonly paths: PathFactors;
}

export interface Ranking {
  /** By `Candidate.id`. */
  readonly definitions: ReadonlyMap<number, Definition>;
  /** `Candidate.id` of those that contain a text of the query. */
  readonly literals: ReadonlySet<number>;
  /** `Candidate.id` of those in files that the query names. */
  readonly inFiles: ReadonlySet<number>;
  readonly weights: RankingWeights;
}

/** Chosen with the tuning sets of `bench/codesearch`. */
export const WEIGHTS: RankingWeights = {
  name: 0.2,
  firstWords: 0.1,
  named: 0.1,
  notFunction: -0.1,
  test: 0.3,
  repeated: 0.05,
  file: 0.15,
  fileDecay: 0.7,
  telling: 1,
  paths: { vendored: 0.5, document: 0.6, supporting: 0.7 },
};

/**
 * Orders the candidates of a query:
 * 1. if it is a look-up, the files that it names, then the chunks with its text, then the definitions of its identifiers, those with the right parent
 *    and spelling first;
 * 2. the others by BM25, as a share of the best one, and by what `RankingWeights` adds to it or takes from it.
 *
 * Ties are broken by path and line.
 */
export function rank(
  query: ParsedQuery,
  candidates: readonly Candidate[],
  { definitions, literals, inFiles, weights }: Ranking,
): readonly Ranked[] {
  const best = candidates.reduce((most, { bm25 }) => Math.max(most, bm25), 0);
  const bonusOf = bonuses(query, candidates, weights);
  const factorOf = createPathFactor(query, weights.paths);
  const scored = candidates.map((candidate) => {
    const definition = definitions.get(candidate.id);
    const literal = literals.has(candidate.id);
    const named = !query.isLookup && (literal || definition !== undefined) ? weights.named : 0;
    const sum = (best === 0 ? 0 : candidate.bm25 / best) + bonusOf(candidate) + named;
    const score = Math.max(0, sum) / (1 + weights.name + weights.firstWords + weights.named + weights.file);
    const factor = (candidate.isTest && !query.asksForTests ? weights.test : 1) * factorOf(candidate);
    return { candidate, score: score * factor, definition, literal, isInFile: inFiles.has(candidate.id) };
  });
  const compare = (one: Ranked, other: Ranked): number =>
    (query.isLookup ? compareNamed(one, other) : 0) || compareRanked(one, other);
  const ordered = demoteRepeated(scored.sort(compare), weights.repeated).sort(compare);
  return withFileEvidence(ordered, weights).sort(compare);
}

/** A file that has much of what was asked for is more likely the right one than a file with a single good chunk. */
function withFileEvidence(ordered: readonly Ranked[], { file, fileDecay }: RankingWeights): Ranked[] {
  const files = new Map<number, { sum: number; factor: number }>();
  for (const { candidate, score } of ordered) {
    const known = files.get(candidate.fileId) ?? { sum: 0, factor: 1 };
    known.sum += score * known.factor;
    known.factor *= fileDecay;
    files.set(candidate.fileId, known);
  }
  const most = Math.max(...[...files.values()].map(({ sum }) => sum), Number.MIN_VALUE);
  return ordered.map((ranked) => ({
    ...ranked,
    score: ranked.score + (file * (files.get(ranked.candidate.fileId)?.sum ?? 0)) / most,
  }));
}

function demoteRepeated(ordered: readonly Ranked[], loss: number): Ranked[] {
  const seen = new Map<string, number>();
  return ordered.map((ranked) => {
    const { symbol } = ranked.candidate;
    if (symbol === null) return ranked;
    const before = seen.get(symbol) ?? 0;
    seen.set(symbol, before + 1);
    return { ...ranked, score: ranked.score * (1 - loss) ** before };
  });
}

function bonuses(
  query: ParsedQuery,
  candidates: readonly Candidate[],
  weights: RankingWeights,
): (candidate: Candidate) => number {
  const stems = query.words.map(stemWord);
  const first = stems.slice(0, 2);
  const namesOf = new Map(
    candidates.map(({ id, symbol }) => [id, new Set(splitIdentifier(symbol ?? '').map(stemWord))] as const),
  );
  const telling = weighWords(stems, [...namesOf.values()], weights.telling);
  const part = query.isOneIdentifier ? toCompoundTerm(query.identifiers[0]?.name ?? '') : '';
  return (candidate) => {
    const { id, kind } = candidate;
    const names = namesOf.get(id) ?? new Set();
    const share = Math.max(computeShare(names, telling), part === '' ? 0 : partShare(candidate, part));
    const isFunction = kind === 'function' || kind === 'method';
    const begins = Math.max(0, ...first.map((word) => (names.has(word) ? (telling.get(word) ?? 0) : 0)));
    return (
      weights.name * share +
      weights.firstWords * begins +
      (isFunction || query.asksForTypes ? 0 : weights.notFunction)
    );
  };
}

/**
 * How much each word of a query tells in a name, 1 for the rarest: "write" is in many names of a code base, and says
 * less than the other words of the question.
 */
function weighWords(
  words: readonly string[],
  names: readonly ReadonlySet<string>[],
  exponent: number,
): ReadonlyMap<string, number> {
  const rarities = new Map(
    words.map((word) => {
      const having = names.filter((name) => name.has(word)).length;
      return [word, Math.log(1 + names.length / (1 + having))] as const;
    }),
  );
  const most = Math.max(...rarities.values(), Number.MIN_VALUE);
  return new Map([...rarities].map(([word, rarity]) => [word, (rarity / most) ** exponent]));
}

/** Whether a result is exactly what was looked up. */
export function isExact({ isInFile, literal, definition }: Ranked, { isLookup }: ParsedQuery): boolean {
  return isLookup && (isInFile || literal || definition !== undefined);
}

function compareNamed(one: Ranked, other: Ranked): number {
  if (one.isInFile || other.isInFile)
    return (
      Number(other.isInFile) - Number(one.isInFile) ||
      one.candidate.path.length - other.candidate.path.length ||
      comparePositions(one.candidate, other.candidate)
    );
  const literal = Number(other.literal) - Number(one.literal);
  return literal || (other.definition?.fit ?? 0) - (one.definition?.fit ?? 0);
}

function compareRanked(one: Ranked, other: Ranked): number {
  return other.score - one.score || comparePositions(one.candidate, other.candidate);
}

/** Also orders equal results, so that a search always returns the same. */
export function comparePositions(one: Candidate, other: Candidate): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1;
  return one.startLine - other.startLine || one.ordinal - other.ordinal || one.id - other.id;
}

function computeShare(names: ReadonlySet<string>, telling: ReadonlyMap<string, number>): number {
  if (names.size === 0) return 0;
  let found = 0;
  for (const name of names) found += telling.get(name) ?? 0;
  return found / names.size;
}

/** The share of a name that an identifier contained in it makes up. */
function partShare({ symbol }: Candidate, part: string): number {
  const name = toCompoundTerm(symbol ?? '');
  return name.includes(part) ? part.length / name.length : 0;
}

import { setImmediate as breathe } from 'node:timers/promises';
import type MiniSearch from 'minisearch';
import type { Search, SearchDocument } from '../../gateway/ports/search.ts';
import { PHRASES, SYNONYMS } from './synonyms.ts';

/** Documents indexed at once. */
const BATCH_SIZE = 50;
/** Maximum number of different words of a query; the others are ignored. */
const MAX_TERMS = 32;
/** Terms this long also match longer terms that begin with them. */
const MIN_PREFIX_LENGTH = 4;
/** A match in the name says more than one in a long description. */
const BOOST = { name: 3, title: 2, server: 1.5, summary: 1.5, description: 1, parameters: 0.8 } as const;
const PREFIX_WEIGHT = 0.4;
const SYNONYM_WEIGHT = 0.5;
/** A query that names a product means its tools. */
const SERVER_FACTOR = 1.6;

/**
 * Ranks documents by the words that they share with a query: BM25 for each word, also for words of the same meaning.
 * Documents that match more of the words come first. The weights were chosen with `bench/search.ts`.
 */
export async function buildWordSearch(documents: Iterable<SearchDocument>): Promise<Search> {
  const { default: Index } = await import('minisearch');
  const index = new Index<SearchDocument>({
    idField: 'key',
    fields: Object.keys(BOOST),
    tokenize: wordsOf,
    processTerm: (word) => (STOP_WORDS.has(word) ? null : stemOf(word)),
    searchOptions: {
      boost: BOOST,
      prefix: (term) => term.length >= MIN_PREFIX_LENGTH,
      weights: { prefix: PREFIX_WEIGHT, fuzzy: 0 },
      tokenize: (term) => [term],
      processTerm: (term) => term,
    },
  });
  const servers = new Map<string, ReadonlySet<string>>();
  let indexed = 0;
  for (const document of documents) {
    index.add(document);
    servers.set(document.key, new Set(wordsOf(document.server).map(stemOf)));
    indexed += 1;
    if (indexed % BATCH_SIZE === 0) await breathe();
  }
  return (query) => {
    const terms = termsOf(query);
    const isNamed = (key: string): boolean => terms.some((term) => servers.get(key)?.has(term) === true);
    return ranked(index, terms, isNamed);
  };
}

interface Match {
  score: number;
  terms: number;
}

function ranked(
  index: MiniSearch<SearchDocument>,
  terms: readonly string[],
  isServerNamed: (key: string) => boolean,
): readonly string[] {
  const matches = new Map<string, Match>();
  for (const term of terms)
    for (const [key, score] of scoresOf(index, term)) {
      const match = matches.get(key) ?? { score: 0, terms: 0 };
      // The root keeps one rare word from outweighing all others.
      match.score += Math.sqrt(score);
      match.terms += 1;
      matches.set(key, match);
    }
  const total = (key: string, { score, terms: matched }: Match): number =>
    score * Math.sqrt(matched / terms.length) * (isServerNamed(key) ? SERVER_FACTOR : 1);
  return [...matches]
    .map(([key, match]) => ({ key, total: total(key, match) }))
    .sort((one, other) => other.total - one.total)
    .map(({ key }) => key);
}

/** The score of each document for one term or its best synonym. */
function scoresOf(index: MiniSearch<SearchDocument>, term: string): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  const variants = [[term, 1] as const, ...synonymsOf(term).map((one) => [one, SYNONYM_WEIGHT] as const)];
  for (const [variant, weight] of variants)
    for (const { id, score } of index.search(variant)) {
      const key = String(id);
      scores.set(key, Math.max(scores.get(key) ?? 0, score * weight));
    }
  return scores;
}

function termsOf(query: string): readonly string[] {
  const text = PHRASES.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), query);
  const words = wordsOf(text).filter((word) => !STOP_WORDS.has(word));
  return [...new Set(words.map(stemOf))].slice(0, MAX_TERMS);
}

let synonyms: ReadonlyMap<string, readonly string[]> | undefined;

function synonymsOf(term: string): readonly string[] {
  synonyms ??= synonymMap();
  return synonyms.get(term) ?? [];
}

function synonymMap(): ReadonlyMap<string, readonly string[]> {
  const map = new Map<string, readonly string[]>();
  for (const group of SYNONYMS) {
    const terms = group.split(' ').map(stemOf);
    for (const term of terms)
      map.set(term, [...(map.get(term) ?? []), ...terms.filter((other) => other !== term)]);
  }
  return map;
}

/** Words in lower case; `createIssue`, `create_issue` and `create-issue` are the same two. */
function wordsOf(text: string): string[] {
  return text
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Words that say nothing about what a tool does. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a about all also an and any are as at be been but by can could did do does for from give had has have how i if in into is it its just left make me might my need now of off on one or our out please put should so some that the their them then there these they this those to tool up us use used using via want was we were what when where which who why will with would you your'.split(
    ' ',
  ),
);

/** Cuts common English endings, so that "files", "listing" and "created" match "file", "list" and "create". */
function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return word
    .replace(/ies$/, 'y')
    .replace(/(s|x|z|ch|sh)es$/, '$1')
    .replace(/([^su])s$/, '$1')
    .replace(/(?<=[a-z]{3})(?:ing|ed)$/, '')
    .replace(/([bdgmnprt])\1$/, '$1')
    .replace(/(?<=[a-z]{3})e$/, '');
}

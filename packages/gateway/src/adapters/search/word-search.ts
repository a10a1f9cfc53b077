import { setImmediate } from 'node:timers/promises';
import { countEdits } from '@assay-mcp/kit/nearest';
import type { Search, SearchDocument } from '../../gateway/ports/search.ts';
import { type Concept, parseQuery } from './parse-query.ts';
import { splitWords, toIndexTerms } from './terms.ts';

/** Documents indexed at once. */
const BATCH_SIZE = 50;
/**
 * How much a match in each text says, and how many terms that text usually has: a match in a long one says less.
 * The weights were chosen with `bench/search/quality.ts`.
 */
const FIELDS = {
  name: { boost: 6, length: 3 },
  title: { boost: 2, length: 3 },
  server: { boost: 1, length: 1 },
  summary: { boost: 1, length: 12 },
  description: { boost: 0.5, length: 40 },
  parameters: { boost: 0.2, length: 30 },
} as const;
type Field = keyof typeof FIELDS;
const FIELD_NAMES = Object.keys(FIELDS) as readonly Field[];
/** Maximum number of characters of one text that are indexed; a server controls its length. */
const MAX_TEXT_LENGTH = 8_000;
const LENGTH_WEIGHT = 0.8;
const SATURATION = 12;
/** Below 1: several common words say more than one rare word. */
const RARITY_POWER = 0.65;
/** How many times the best of several alternatives they count together. */
const MAX_ALTERNATIVES = 2.5;
const PREFIX_WEIGHT = 0.5;
/** Terms that begin with one of the query. */
const MAX_PREFIXED = 50;
const TYPO_WEIGHT = 0.4;
/** Words of a query that are compared with all terms; a comparison takes time in proportion to their number. */
const MAX_TYPOS = 4;
const MIN_TYPO_LENGTH = 4;
/** A query that names a product means its tools. */
const SERVER_FACTOR = 1.6;

/** Where a term occurs: positions of documents and the weight in each. */
interface Postings {
  readonly documents: number[];
  readonly weights: number[];
}

interface Index {
  readonly keys: readonly string[];
  readonly servers: readonly ReadonlySet<string>[];
  readonly postings: ReadonlyMap<string, Postings>;
  /** Sorted, so that words with the same beginning are next to each other. */
  readonly terms: readonly string[];
}

/**
 * Ranks documents by what they share with a query: BM25 over the weighted texts for each word, its synonyms and what it
 * begins; mistyped words last. Documents that match more of the query come first.
 */
export async function buildWordSearch(documents: Iterable<SearchDocument>): Promise<Search> {
  const keys: string[] = [];
  const servers: ReadonlySet<string>[] = [];
  const postings = new Map<string, Postings>();
  const known: KnownWords = new Map();
  for (const document of documents) {
    for (const [term, weight] of weighTerms(document, known)) {
      const found = postings.get(term);
      if (found === undefined) postings.set(term, { documents: [keys.length], weights: [weight] });
      else {
        found.documents.push(keys.length);
        found.weights.push(weight);
      }
    }
    keys.push(document.key);
    servers.push(new Set(listTerms(document.server, known)));
    if (keys.length % BATCH_SIZE === 0) await setImmediate();
  }
  const index = { keys, servers, postings, terms: [...postings.keys()].sort() };
  return (query) => rank(index, parseQuery(query));
}

/** Terms of words seen so far: descriptions repeat them. */
type KnownWords = Map<string, readonly string[]>;

function weighTerms(document: SearchDocument, known: KnownWords): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const field of FIELD_NAMES) {
    const { boost, length } = FIELDS[field];
    const counts = new Map<string, number>();
    const terms = listTerms(document[field], known);
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    const norm = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * terms.length) / length;
    for (const [term, count] of counts)
      weights.set(term, (weights.get(term) ?? 0) + (boost * count) / (count + norm));
  }
  return weights;
}

function listTerms(text: string, known: KnownWords): readonly string[] {
  return splitWords(text.slice(0, MAX_TEXT_LENGTH)).flatMap((word) => {
    const terms = known.get(word) ?? toIndexTerms(word);
    known.set(word, terms);
    return terms;
  });
}

function rank(index: Index, concepts: readonly Concept[]): readonly string[] {
  const { keys, servers } = index;
  const totals = new Float64Array(keys.length);
  const matches = new Uint8Array(keys.length);
  const scores: Scores = { sums: new Float64Array(keys.length), bests: new Float64Array(keys.length) };
  let asked = 0;
  let typosLeft = MAX_TYPOS;
  for (const concept of concepts) {
    let matched = scoreTerms(index, expand(index, concept), scores);
    if (matched.length === 0 && concept.word !== undefined && typosLeft > 0) {
      typosLeft -= 1;
      matched = scoreTerms(index, findTypos(index, concept.word), scores);
    }
    // What no tool speaks of, such as a name, says nothing about which tool is right.
    if (matched.length > 0) asked += 1;
    for (const document of matched) {
      // Keeps one rare word from outweighing all others.
      totals[document] = (totals[document] ?? 0) + takeScore(scores, document) ** RARITY_POWER;
      matches[document] = (matches[document] ?? 0) + 1;
    }
  }
  const shares = Array.from({ length: asked + 1 }, (_, count) => Math.sqrt(count / asked));
  const isNamed = (document: number): boolean =>
    concepts.some(({ word }) => word !== undefined && servers[document]?.has(word) === true);
  const ranked: number[] = [];
  for (const [document, count] of matches.entries()) {
    if (count === 0) continue;
    ranked.push(document);
    totals[document] =
      (totals[document] ?? 0) * (shares[count] ?? 0) * (isNamed(document) ? SERVER_FACTOR : 1);
  }
  return ranked
    .sort((one, other) => (totals[other] ?? 0) - (totals[one] ?? 0) || one - other)
    .map((document) => keys[document] ?? '');
}

/** The terms of a concept, and those that begin with it. */
function expand({ terms }: Index, concept: Concept): ReadonlyMap<string, number> {
  const { prefix } = concept;
  if (prefix === undefined) return concept.terms;
  const expanded = new Map(concept.terms);
  for (let at = findStart(terms, prefix); at < terms.length && expanded.size < MAX_PREFIXED; at += 1) {
    const term = terms[at] ?? '';
    if (!term.startsWith(prefix)) break;
    if (!expanded.has(term)) expanded.set(term, PREFIX_WEIGHT);
  }
  return expanded;
}

/** What the terms of a concept say of each document. */
interface Scores {
  readonly sums: Float64Array;
  readonly bests: Float64Array;
}

/**
 * Adds what these terms say of each document, and returns the documents with any of them. Alternatives add up: a tool
 * that speaks of a thing in several words is about it.
 */
function scoreTerms(
  { postings, keys }: Index,
  terms: ReadonlyMap<string, number>,
  { sums, bests }: Scores,
): readonly number[] {
  const matched: number[] = [];
  for (const [term, weight] of terms) {
    const found = postings.get(term);
    if (found === undefined) continue;
    const { documents, weights } = found;
    const rarity = weight * Math.log(1 + (keys.length - documents.length + 0.5) / (documents.length + 0.5));
    for (let at = 0; at < documents.length; at += 1) {
      const document = documents[at] ?? 0;
      const inside = weights[at] ?? 0;
      const score = (rarity * inside) / (inside + SATURATION);
      const best = bests[document] ?? 0;
      if (best === 0) matched.push(document);
      if (score > best) bests[document] = score;
      sums[document] = (sums[document] ?? 0) + score;
    }
  }
  return matched;
}

/** The score of a document, which is 0 from then on. A text that lists words does not gain with each of them. */
function takeScore({ sums, bests }: Scores, document: number): number {
  const score = Math.min(sums[document] ?? 0, MAX_ALTERNATIVES * (bests[document] ?? 0));
  sums[document] = 0;
  bests[document] = 0;
  return score;
}

/** Terms with the same first letter that one mistake, or two in a long word, turn into the word. */
function findTypos({ terms }: Index, word: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const first = word.slice(0, 1);
  if (word.length < MIN_TYPO_LENGTH || !/^\p{L}/u.test(first)) return found;
  const limit = word.length < 6 ? 1 : 2;
  for (let at = findStart(terms, first); at < terms.length; at += 1) {
    const term = terms[at] ?? '';
    if (!term.startsWith(first)) break;
    if (Math.abs(term.length - word.length) <= limit && countEdits(word, term) <= limit)
      found.set(term, TYPO_WEIGHT);
  }
  return found;
}

/** The position of the first term that is not before the text. */
function findStart(terms: readonly string[], text: string): number {
  let [low, high] = [0, terms.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((terms[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

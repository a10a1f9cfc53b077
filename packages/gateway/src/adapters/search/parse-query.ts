import { stemWord } from '@assay-mcp/kit/stem-word';
import { SAYINGS } from './sayings.ts';
import { TOPICS } from './topics.ts';
import { readValues } from './patterns.ts';
import { SYNONYMS } from './synonyms.ts';
import { isSpaceless, listPairs, splitDigits, splitScripts, splitWords, STOP_WORDS } from './terms.ts';

/** One thing that a query asks for: the terms that can stand for it, with the weight of each. */
export interface Concept {
  readonly terms: ReadonlyMap<string, number>;
  /** Terms that begin with this one match too. */
  readonly prefix?: string;
  /** If nothing else matches, terms that differ from this one by a typing mistake match. */
  readonly word?: string;
}

/** A longer query is cut. */
const MAX_QUERY_LENGTH = 1_000;
/** Maximum number of concepts of a query; the others are ignored. */
const MAX_CONCEPTS = 32;
/** Words of a query that are read. */
const MAX_WORDS = 200;
const MIN_PREFIX_LENGTH = 4;
const SYNONYM_WEIGHT = 0.6;
const SAYING_WEIGHT = 0.8;
const PART_WEIGHT = 0.6;
/** Maximum number of words between a verb and its particle. */
const MAX_GAP = 4;
const PARTICLES: ReadonlySet<string> = new Set(
  'apart aside away back down in off on out over through together up'.split(' '),
);
const NUMBER = stemWord('number');

/** What a query asks for, in its order, each once. */
export function parseQuery(query: string): readonly Concept[] {
  const { text, meanings } = readValues(query.slice(0, MAX_QUERY_LENGTH));
  const words = splitWords(joinContractions(text)).flatMap(splitScripts).slice(0, MAX_WORDS);
  const concepts = new Map<string, Concept>();
  let at = 0;
  while (at < words.length && concepts.size < MAX_CONCEPTS) {
    const length = sayingLength(words, at);
    const particle = length > 1 ? undefined : findParticle(words, at);
    const used =
      particle === undefined ? words.slice(at, at + length) : [words[at] ?? '', ...words.splice(particle, 1)];
    const parsed = used.length > 1 ? parseSaying(used) : parseWord(used[0] ?? '');
    for (const concept of parsed) concepts.set([...concept.terms.keys()].join(' '), concept);
    at += length;
  }
  for (const meaning of meanings) {
    const concept = toConcept(meaning, SAYING_WEIGHT);
    concepts.set([...concept.terms.keys()].join(' '), concept);
  }
  return [...concepts.values()].slice(0, MAX_CONCEPTS);
}

/** `don't` and `what's` as one word, but not `Anna's`. */
function joinContractions(query: string): string {
  return query.replace(/(n)['’](t)\b|\b(what|where|who|how|that|it)['’](s)\b/gi, '$1$2$3$4');
}

/** Number of words at this place that are a saying. 1: an ordinary word. */
function sayingLength(words: readonly string[], at: number): number {
  const { sayings, maxSayingWords } = getThesaurus();
  for (let length = maxSayingWords; length > 1; length -= 1)
    if (
      at + length <= words.length &&
      sayings.has(
        words
          .slice(at, at + length)
          .map(stemWord)
          .join(' '),
      )
    )
      return length;
  return 1;
}

/** Where the second word of a saying follows the first after a few others: `throw that mail away`. */
function findParticle(words: readonly string[], at: number): number | undefined {
  const { sayings } = getThesaurus();
  const verb = stemWord(words[at] ?? '');
  for (let next = at + 2; next <= at + MAX_GAP + 1 && next < words.length; next += 1) {
    const word = words[next] ?? '';
    if (PARTICLES.has(word) && sayings.has(`${verb} ${stemWord(word)}`)) return next;
  }
  return undefined;
}

function parseSaying(words: readonly string[]): readonly Concept[] {
  const meanings = (getThesaurus().sayings.get(words.map(stemWord).join(' ')) ?? '').split(' ');
  const own = words.filter((word) => !STOP_WORDS.has(word)).map(stemWord);
  return meanings.map((meaning) => {
    const terms = new Map(toConcept(meaning, 1).terms);
    for (const term of own) if (!terms.has(term)) terms.set(term, PART_WEIGHT);
    return { terms };
  });
}

function parseWord(word: string): readonly Concept[] {
  if (isSpaceless(word)) return parseRun(word);
  const stem = stemWord(word);
  const { synonyms, sayings } = getThesaurus();
  const said = sayings.get(stem)?.split(' ') ?? [];
  if (said.length > 1) return said.map((meaning) => toConcept(meaning, 1));
  if (said.length === 0 && STOP_WORDS.has(word)) return [];
  const terms = new Map<string, number>(
    said.flatMap((meaning) => [...toConcept(meaning, SAYING_WEIGHT).terms]),
  );
  for (const synonym of synonyms.get(stem) ?? []) if (!terms.has(synonym)) terms.set(synonym, SYNONYM_WEIGHT);
  const parts = splitDigits(word);
  if (parts.length > 1) for (const part of parts) terms.set(part, PART_WEIGHT);
  // A number is a value for an argument.
  if (/^\p{N}+$/u.test(word)) terms.set(NUMBER, SYNONYM_WEIGHT);
  const own = parts.length > 1 ? word : stem;
  terms.set(own, 1);
  return [{ terms, word: own, ...(own.length >= MIN_PREFIX_LENGTH && { prefix: own }) }];
}

/** The pairs of characters of a run without spaces. One character alone matches all pairs that begin with it. */
function parseRun(run: string): readonly Concept[] {
  const pairs = listPairs(run);
  const [only] = pairs;
  if (only !== undefined && pairs.length === 1) return [{ terms: new Map([[only, 1]]), prefix: only }];
  return pairs.slice(0, -1).map((pair) => ({ terms: new Map([[pair, 1]]) }));
}

function toConcept(meaning: string, weight: number): Concept {
  return { terms: new Map(meaning.split('|').map((word) => [stemWord(word), weight])) };
}

/** The tables by stems. Built with the first query. */
interface Thesaurus {
  readonly synonyms: ReadonlyMap<string, ReadonlySet<string>>;
  /** Meanings by the stems of what is said. */
  readonly sayings: ReadonlyMap<string, string>;
  readonly maxSayingWords: number;
}

let thesaurus: Thesaurus | undefined;

function getThesaurus(): Thesaurus {
  return (thesaurus ??= buildThesaurus());
}

function buildThesaurus(): Thesaurus {
  const sayings = new Map<string, string>();
  for (const [meaning, said] of [SAYINGS, TOPICS].flatMap(Object.entries<string>))
    for (const words of said.split(', ')) sayings.set(words.split(' ').map(stemWord).join(' '), meaning);
  const synonyms = new Map<string, Set<string>>();
  for (const group of SYNONYMS) {
    const terms = group.split(' ').map(stemWord);
    for (const term of terms) {
      const others = synonyms.get(term) ?? new Set<string>();
      for (const other of terms) if (other !== term) others.add(other);
      synonyms.set(term, others);
    }
  }
  const maxSayingWords = Math.max(...[...sayings.keys()].map((words) => words.split(' ').length));
  return { synonyms, sayings, maxSayingWords };
}

import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { fuseRanks } from '../embeddings/fuse-ranks.ts';
import type { VectorMatch } from '../embeddings/vector-search.ts';
import type { FileFilter } from '../file-filter.ts';
import { toCompoundTerm, listIndexedTerms, splitIdentifier } from '../terms.ts';
import { assembleResults, type FileResult, type SearchResult, type Truncation } from './assemble-results.ts';
import {
  getCandidates,
  joinWithOr,
  type Candidate,
  type Candidates,
  joinWithAnd,
  quoteTerm,
} from './candidates.ts';
import { type Definition, findDefinitions } from './definitions.ts';
import { diagnose, type Diagnosis } from './diagnose.ts';
import type { TextMode } from './line-matcher.ts';
import { parseQuery, type ParsedQuery } from './parse-query.ts';
import { isExact, type Ordered, rank, type RankingWeights, WEIGHTS } from './rank.ts';
import { findSynonyms } from './synonyms.ts';
import { findTermsWith, getVocabulary } from './vocabulary.ts';

export interface SearchRequest extends FileFilter {
  readonly query: string;
  /** 1 to 50. */
  readonly limit: number;
  /** Lines around each chunk, 0 to 20: chunks are then returned whole. Undefined: their best lines only. */
  readonly context?: number | undefined;
  /** Bytes of the whole answer that others fill, such as with notes. */
  readonly reservedBytes?: number | undefined;
}

export interface SearchOptions {
  /** Results of a search by meaning, nearest first; undefined if there was none. */
  readonly vectorMatches?: readonly VectorMatch[] | undefined;
  /** Maximum number of bytes of code in all results together. */
  readonly maxBytes?: number | undefined;
  readonly weights?: RankingWeights | undefined;
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  readonly files: readonly FileResult[];
  /** Number of results returned. */
  readonly total_count: number;
  readonly truncated: boolean;
  readonly truncation: Truncation | null;
  readonly mode: 'lexical' | 'hybrid' | TextMode;
  /** Present if the search was for lines that match. */
  readonly matches?: MatchCounts | undefined;
  /** When the oldest of the repositories searched was last indexed; null if none was. */
  readonly indexed_at: string | null;
  /** Sentences about what was not found as it was asked for. */
  readonly notes: readonly string[];
  /** Present if there are no results. */
  readonly diagnosis: Diagnosis | null;
}

/** How many lines match, in what was searched. */
export interface MatchCounts {
  readonly lines: number;
  readonly chunks: number;
  readonly files: number;
  /** Whether all of the index was searched. */
  readonly is_complete: boolean;
}

/** Maximum number of candidates of the ranked search. More would cost time and hardly ever reach the top. */
const MAX_CANDIDATES = 120;
/** Of the code in all results together. */
export const DEFAULT_MAX_BYTES = 40_000;
const MAX_CONTAINING_TERMS = 20;

/**
 * Searches the live files of an index. Reads only. The same index and request give the same answer. Filters and the
 * limit must be valid; any text is a valid query.
 */
export function searchCode(
  database: Database,
  request: SearchRequest,
  options: SearchOptions = {},
): SearchAnswer {
  const candidates = getCandidates(database);
  const query = parseQuery(request.query);
  const search: Search = { database, candidates, query, request };
  const synonyms = listSynonyms(search);
  const byTerms = candidates.ranked(joinWithOr(weighTerms(query.terms, synonyms)), request, MAX_CANDIDATES);
  const named = findNamed(search, byTerms);
  const lexical = lexicalOrder(search, byTerms, { named, weights: options.weights ?? WEIGHTS });
  const { vectorMatches } = options;
  const isUnknown = lexical.length === 0 && !hasKnownTerm(search);
  const nearest = isUnknown ? pickOfUnknown(query, vectorMatches) : vectorMatches;
  const ordered = nearest === undefined ? lexical : fuse(search, lexical, nearest);
  const unknown = isUnknown ? [BY_MEANING_ONLY] : describeUnknown(named);
  const { results, files, truncation } = assembleResults(ordered, {
    candidates,
    query,
    synonyms,
    limit: request.limit,
    context: request.context,
    reservedBytes: (request.reservedBytes ?? 0) + Buffer.byteLength(unknown.join()),
    isUnknown: named.unknown !== undefined,
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
  });
  return {
    results,
    files,
    total_count: results.length,
    truncated: truncation !== null,
    truncation,
    mode: vectorMatches === undefined ? 'lexical' : 'hybrid',
    indexed_at: findIndexedAt(candidates, request),
    notes: results.length > 0 ? unknown : [],
    diagnosis: results.length > 0 ? null : diagnose({ ...search, filter: request }),
  };
}

function hasKnownTerm({ candidates, query, request }: Search): boolean {
  const { repositoryIds } = request;
  return candidates.matching(joinWithOr(query.terms), { repositoryIds }, 1).length > 0;
}

/**
 * The nearest vectors exist for every query. If the index has none of its words, they say something only about a
 * question in other words, such as in another language.
 */
function pickOfUnknown(
  { words, isOneIdentifier }: ParsedQuery,
  matches: readonly VectorMatch[] | undefined,
): readonly VectorMatch[] | undefined {
  const isQuestion = !isOneIdentifier && words.length >= MIN_WORDS_OF_QUESTION;
  return matches?.slice(0, isQuestion ? MAX_BY_MEANING_ONLY : 0);
}

const MIN_WORDS_OF_QUESTION = 3;
const MAX_BY_MEANING_ONLY = 3;
const BY_MEANING_ONLY =
  'The index has none of the words of the query. The results were found by meaning only and may be unrelated.';

interface Search {
  readonly database: Database;
  readonly candidates: Candidates;
  readonly query: ParsedQuery;
  readonly request: SearchRequest;
}

/** A word that no name of the index has is hardly one of the code's own: its synonyms are searched, too. */
function listSynonyms({ candidates, query, request }: Search): readonly string[] {
  const isCode = query.isOneIdentifier || query.literals.length > 0;
  return isCode ? [] : findSynonyms(request.query, (word) => candidates.isInName(word));
}

/** FTS5 adds up what stands in an expression twice, so a synonym counts half as much as a term of the query. */
function weighTerms(terms: readonly string[], synonyms: readonly string[]): readonly string[] {
  return synonyms.length === 0 ? terms : [...terms, ...terms, ...synonyms];
}
/** What the query names, besides its words. */
interface Named {
  /** Chunks of the files with this name. */
  readonly inFiles: readonly Candidate[];
  readonly definitions: readonly Definition[];
  readonly literals: readonly Candidate[];
  /** Chunks with longer identifiers that contain the one of the query. */
  readonly longer: readonly Candidate[];
  /** Present if the query is one identifier that the index does not have. */
  readonly unknown: string | undefined;
}

function findNamed(search: Search, byTerms: readonly Candidate[]): Named {
  const { candidates, query, request } = search;
  const inFiles = query.file === undefined ? [] : candidates.inFiles(query.file, request);
  const identifiers = inFiles.length > 0 ? [] : query.identifiers;
  const definitions = identifiers.flatMap((identifier) =>
    findDefinitions(identifier, candidates, request, query.kindWord),
  );
  const literals = query.literals.flatMap((literal) => findChunksWith(literal, candidates, request));
  const isUndefined = query.isOneIdentifier && identifiers.length > 0 && definitions.length === 0;
  const longer = isUndefined && byTerms.length < request.limit ? findContaining(search) : [];
  const name = identifiers[0]?.name ?? '';
  const isUnknown =
    isUndefined &&
    splitIdentifier(name).length > 1 &&
    candidates.matching(quoteTerm(toCompoundTerm(name)), request, 1).length === 0;
  return { inFiles, definitions, literals, longer, unknown: isUnknown ? name : undefined };
}

function lexicalOrder(
  { query }: Search,
  byTerms: readonly Candidate[],
  { named, weights }: { readonly named: Named; readonly weights: RankingWeights },
): readonly Ordered[] {
  const { inFiles, definitions, literals, longer } = named;
  const found = [...byTerms, ...inFiles, ...definitions.map(({ candidate }) => candidate), ...literals];
  const ranking = {
    definitions: pickBest(definitions),
    literals: new Set(literals.map(({ id }) => id)),
    inFiles: new Set(inFiles.map(({ id }) => id)),
    weights,
  };
  return rank(query, removeDuplicates([...found, ...longer]), ranking).map((ranked) => ({
    ...ranked,
    byMeaning: false,
  }));
}

/** Says that the results are not what was looked up. */
function describeUnknown({ unknown, longer }: Named): readonly string[] {
  if (unknown === undefined) return [];
  const parts = splitIdentifier(unknown).join(', ');
  const what = longer.length > 0 ? 'longer identifiers that contain it' : `parts of it (${parts})`;
  return [`The index has no identifier ${unknown}. The results have ${what}.`];
}

/** Longer identifiers that contain the one of the query. */
function findContaining({ candidates, query, request, database }: Search): readonly Candidate[] {
  const part = toCompoundTerm(query.identifiers[0]?.name ?? '');
  if (part.length < MIN_PART) return [];
  const terms = findTermsWith(part, getVocabulary(database), MAX_CONTAINING_TERMS);
  return candidates.ranked(joinWithOr(terms), request, MAX_CANDIDATES);
}

const MIN_PART = 3;

function pickBest(definitions: readonly Definition[]): ReadonlyMap<number, Definition> {
  const best = new Map<number, Definition>();
  for (const definition of definitions) {
    const { id } = definition.candidate;
    if (definition.fit > (best.get(id)?.fit ?? 0)) best.set(id, definition);
  }
  return best;
}

function removeDuplicates(found: readonly Candidate[]): readonly Candidate[] {
  const byId = new Map<number, Candidate>();
  for (const candidate of found) if (!byId.has(candidate.id)) byId.set(candidate.id, candidate);
  return [...byId.values()];
}

const NOT_NAMED = { literal: false, isInFile: false } as const;

/** Definitions and exact text stay first: embeddings capture names poorly. */
function fuse(
  search: Search,
  lexical: readonly Ordered[],
  matches: readonly VectorMatch[],
): readonly Ordered[] {
  const { candidates, query, request } = search;
  const first = lexical.filter((entry) => isExact(entry, query));
  const rest = lexical.filter((entry) => !first.includes(entry));
  const known = new Map(lexical.map((entry) => [entry.candidate.id, entry]));
  const nearest = matches.map(({ chunkRowId }) => chunkRowId);
  const missing = candidates.byIds(
    nearest.filter((id) => !known.has(id)),
    request,
  );
  for (const candidate of missing)
    known.set(candidate.id, { candidate, score: 0, definition: undefined, ...NOT_NAMED, byMeaning: true });
  const placed = new Set(first.map(({ candidate }) => candidate.id));
  const lists = [
    rest.map(({ candidate }) => candidate.id),
    nearest.filter((id) => known.has(id) && !placed.has(id)),
  ];
  const byMeaning = new Set(nearest);
  const order = fuseRanks(lists).flatMap(({ id, score }) => {
    const entry = known.get(id);
    return entry === undefined ? [] : [{ ...entry, score, byMeaning: byMeaning.has(id) }];
  });
  return [...first, ...order];
}

/** When the oldest of the repositories searched was last indexed. */
export function findIndexedAt(
  candidates: Candidates,
  { repositoryId, repositoryIds }: FileFilter,
): string | null {
  const row = candidates
    .statement(
      `SELECT min(indexed_at) AS oldest FROM repositories WHERE (@id IS NULL OR id = @id)
       AND (@ids IS NULL OR id IN (SELECT value FROM json_each(@ids)))`,
    )
    .get({ id: repositoryId ?? null, ids: repositoryIds ? JSON.stringify(repositoryIds) : null });
  return (row as { readonly oldest: string | null }).oldest;
}

/** Maximum number of chunks that are read to find a text in them. */
const MAX_READ = 300;
const MAX_FOUND = 60;

/**
 * The chunks that contain a text exactly; if there are none, ignoring case. Every chunk is read only for a text without
 * terms, such as one of keywords only.
 */
function findChunksWith(literal: string, candidates: Candidates, filter: FileFilter): readonly Candidate[] {
  const lower = literal.toLowerCase();
  const inner = listIndexedTerms(withoutEdges(literal));
  for (const terms of [listIndexedTerms(literal), inner]) {
    const exact: Candidate[] = [];
    const similar: Candidate[] = [];
    for (const candidate of candidates.ranked(joinWithAnd(terms), filter, MAX_READ)) {
      const content = candidates.contentOf(candidate.id);
      if (content.includes(literal)) exact.push(candidate);
      else if (content.toLowerCase().includes(lower)) similar.push(candidate);
      if (exact.length >= MAX_FOUND) break;
    }
    if (exact.length > 0 || similar.length > 0) return exact.length > 0 ? exact : similar;
  }
  return inner.length > 0 ? [] : candidates.containing(literal, filter, MAX_FOUND);
}

/** The text may start or end within an identifier. */
function withoutEdges(literal: string): string {
  return literal.replace(/^[\p{L}\p{M}\p{N}_$]+/u, '').replace(/[\p{L}\p{M}\p{N}_$]+$/u, '');
}

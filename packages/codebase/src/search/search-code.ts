import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { fuseRanks } from '../embeddings/fuse-ranks.ts';
import type { VectorMatch } from '../embeddings/vector-search.ts';
import type { FileFilter } from '../file-filter.ts';
import { toCompoundTerm, listIndexedTerms } from '../terms.ts';
import { assembleResults, type SearchResult, type Truncation } from './assemble-results.ts';
import { joinWithOr, type Candidate, Candidates, joinWithAnd } from './candidates.ts';
import { type Definition, findDefinitions } from './definitions.ts';
import { diagnose, type Diagnosis } from './diagnose.ts';
import { parseQuery, type ParsedQuery } from './parse-query.ts';
import { isExact, type Ordered, rank, type RankingWeights, WEIGHTS } from './rank.ts';
import { findTermsWith, getVocabulary } from './vocabulary.ts';

export interface SearchRequest extends FileFilter {
  readonly query: string;
  /** 1 to 50. */
  readonly limit: number;
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
  /** Number of results returned. */
  readonly total_count: number;
  readonly truncated: boolean;
  readonly truncation: Truncation | null;
  readonly mode: 'lexical' | 'hybrid';
  /** When the oldest of the repositories searched was last indexed; null if none was. */
  readonly indexed_at: string | null;
  /** Present if there are no results. */
  readonly diagnosis: Diagnosis | null;
}

/** Maximum number of candidates of the ranked search. More would cost time and hardly ever reach the top. */
const MAX_CANDIDATES = 60;
const MAX_CANDIDATES_OF_LARGE_LIMIT = 120;
const DEFAULT_MAX_BYTES = 40_000;
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
  const candidates = candidatesOf(database);
  const query = parseQuery(request.query);
  const search: Search = { database, candidates, query, request };
  const lexical = lexicalOrder(search, options.weights ?? WEIGHTS);
  const { vectorMatches } = options;
  const ordered = vectorMatches === undefined ? lexical : fused(search, lexical, vectorMatches);
  const { results, truncation } = assembleResults(ordered, {
    candidates,
    query,
    limit: request.limit,
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
  });
  return {
    results,
    total_count: results.length,
    truncated: truncation !== null,
    truncation,
    mode: vectorMatches === undefined ? 'lexical' : 'hybrid',
    indexed_at: indexedAt(candidates, request),
    diagnosis: results.length > 0 ? null : diagnose({ ...search, filter: request }),
  };
}

interface Search {
  readonly database: Database;
  readonly candidates: Candidates;
  readonly query: ParsedQuery;
  readonly request: SearchRequest;
}

const prepared = new WeakMap<Database, Candidates>();

function candidatesOf(database: Database): Candidates {
  const known = prepared.get(database) ?? new Candidates(database);
  prepared.set(database, known);
  return known;
}

function lexicalOrder(search: Search, weights: RankingWeights): readonly Ordered[] {
  const { candidates, query, request } = search;
  const limit = request.limit > 20 ? MAX_CANDIDATES_OF_LARGE_LIMIT : MAX_CANDIDATES;
  const byTerms = candidates.ranked(joinWithOr(query.terms), request, limit);
  const definitions = query.identifiers.flatMap((identifier) =>
    findDefinitions(identifier, candidates, request),
  );
  const literals = query.literals.flatMap((literal) => findChunksWith(literal, candidates, request));
  const found = [...byTerms, ...definitions.map(({ candidate }) => candidate), ...literals];
  if (query.isOneIdentifier && definitions.length === 0 && byTerms.length < request.limit)
    found.push(...containing(search));
  const ranking = {
    definitions: bestOf(definitions),
    literals: new Set(literals.map(({ id }) => id)),
    weights,
  };
  return rank(query, distinct(found), ranking).map((ranked) => ({ ...ranked, byMeaning: false }));
}

/** Longer identifiers that contain the one of the query. */
function containing({ candidates, query, request, database }: Search): readonly Candidate[] {
  const part = toCompoundTerm(query.identifiers[0]?.name ?? '');
  if (part.length < MIN_PART) return [];
  const terms = findTermsWith(part, getVocabulary(database), MAX_CONTAINING_TERMS);
  return candidates.ranked(joinWithOr(terms), request, MAX_CANDIDATES);
}

const MIN_PART = 3;

function bestOf(definitions: readonly Definition[]): ReadonlyMap<number, Definition> {
  const best = new Map<number, Definition>();
  for (const definition of definitions) {
    const { id } = definition.candidate;
    if (definition.fit > (best.get(id)?.fit ?? 0)) best.set(id, definition);
  }
  return best;
}

function distinct(found: readonly Candidate[]): readonly Candidate[] {
  const byId = new Map<number, Candidate>();
  for (const candidate of found) if (!byId.has(candidate.id)) byId.set(candidate.id, candidate);
  return [...byId.values()];
}

/** Definitions and exact text stay first: embeddings capture names poorly. */
function fused(
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
    known.set(candidate.id, { candidate, score: 0, definition: undefined, literal: false, byMeaning: true });
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

function indexedAt(candidates: Candidates, { repositoryId, repositoryIds }: FileFilter): string | null {
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

import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { findNearest } from '@assay-mcp/kit/nearest';
import type { FileFilter } from '../file-filter.ts';
import { joinWithOr, type Candidates, quoteTerm } from './candidates.ts';
import type { ParsedQuery } from './parse-query.ts';
import { stemWord } from '@assay-mcp/kit/stem-word';
import { findTermsWith, getVocabulary } from './vocabulary.ts';

/** Why a search found nothing. */
export interface Diagnosis {
  readonly code: 'NOTHING_INDEXED' | 'NO_TERMS' | 'FILTERED_OUT' | 'TERMS_UNKNOWN' | 'NO_MATCH';
  /** What happened and what to do next. */
  readonly message: string;
  /** Terms of the query that are not in the index. */
  readonly unknown_terms: readonly string[];
  /** Similar terms that are in the index. */
  readonly similar_terms: readonly string[];
  /** Number of indexed files that pass the filters. */
  readonly files_searched: number;
}

export interface EmptySearch {
  readonly query: ParsedQuery;
  readonly filter: FileFilter;
  readonly candidates: Candidates;
  readonly database: Database;
}

const MAX_SIMILAR = 8;
const MAX_EXAMINED = 20_000;

export function diagnose(search: EmptySearch): Diagnosis {
  const { query, filter, candidates, database } = search;
  const files_searched = candidates.countFiles(filter);
  // What the caller may not search is not counted or named either.
  const all: FileFilter = { repositoryIds: filter.repositoryIds };
  const found = (detail: Pick<Diagnosis, 'code' | 'message'> & Partial<Diagnosis>): Diagnosis => ({
    unknown_terms: [],
    similar_terms: [],
    files_searched,
    ...detail,
  });
  if (files_searched === 0 && candidates.countFiles(all) === 0)
    return found({
      code: 'NOTHING_INDEXED',
      message: 'The index has no files. Call index_repository first.',
    });
  if (files_searched === 0)
    return found({
      code: 'FILTERED_OUT',
      message:
        'No indexed file passes the filters. Check repository_id, file_type and directory, or leave them out.',
    });
  if (query.terms.length === 0)
    return found({
      code: 'NO_TERMS',
      message: 'The query has no letters or digits. Search for words or identifiers.',
    });
  const isKnown = (term: string): boolean => candidates.matching(quoteTerm(term), all, 1).length > 0;
  if (candidates.matching(joinWithOr(query.terms), all, 1).length > 0)
    return found({
      code: 'FILTERED_OUT',
      message:
        'Files outside of the filters match. Leave out repository_id, file_type or directory to see them.',
    });
  const unknown = query.terms.filter((term) => !isKnown(term));
  const similar = similarTerms(unknown, getVocabulary(database))
    .filter((term) => all.repositoryIds === undefined || isKnown(term))
    .map((term) => spelledOut(term, candidates, all));
  return found({
    code: 'TERMS_UNKNOWN',
    message: `The index has none of these terms: ${unknown.join(', ')}.${similar.length === 0 ? ' Try other words.' : ` Similar ones that it has: ${similar.join(', ')}.`}`,
    unknown_terms: unknown,
    similar_terms: similar,
  });
}

/** The nearest term by spelling, then terms with the same start and terms that contain it. */
function similarTerms(terms: readonly string[], vocabulary: string): readonly string[] {
  const similar = new Set<string>();
  for (const asked of terms) {
    const term = stemWord(asked);
    const start = vocabulary.indexOf(`\n${term.slice(0, 1)}`);
    const alike = vocabulary
      .slice(Math.max(0, start), start < 0 ? 0 : undefined)
      .split('\n', MAX_EXAMINED)
      .filter((known) => known.startsWith(term.slice(0, 1)) && Math.abs(known.length - term.length) <= 2);
    const spelled = findNearest(term, alike);
    if (spelled !== undefined) similar.add(spelled);
    if (term.length >= MIN_PART) for (const known of findTermsWith(term, vocabulary, 3)) similar.add(known);
    if (similar.size >= MAX_SIMILAR) break;
  }
  return [...similar].slice(0, MAX_SIMILAR);
}

const MIN_PART = 3;

/** The symbol as spelled in the code, instead of its term, which is a stem. */
function spelledOut(term: string, candidates: Candidates, all: FileFilter): string {
  return candidates.matching(`name : ^ ${quoteTerm(term)}`, all, 1)[0]?.symbol ?? term;
}

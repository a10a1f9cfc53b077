import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { countEdits } from '@assay-mcp/kit/nearest';
import type { FileFilter } from '../file-filter.ts';
import { joinWithOr, quoteTerm, type Candidate, type Candidates } from '../search/candidates.ts';
import { diagnose } from '../search/diagnose.ts';
import { parseQuery } from '../search/parse-query.ts';
import { splitIdentifier, toCompoundTerm } from '../terms.ts';
import type { SymbolRequest } from './symbol-name.ts';

/** Why no definition was found. */
export interface MissingSymbol {
  /** `NOT_DEFINED`: the name occurs, but nothing that is indexed defines it. Others as in a search. */
  readonly code: 'NOT_DEFINED' | ReturnType<typeof diagnose>['code'];
  readonly message: string;
  /** Symbols with similar names, nearest first. */
  readonly similar: readonly SimilarSymbol[];
}

export interface SimilarSymbol {
  readonly symbol: string;
  readonly file_path: string;
  readonly start_line: number;
}

/** `isUsed`: whether code has the name. */
export function explainMissing(
  database: Database,
  candidates: Candidates,
  { symbol: { name }, isUsed, ...filter }: SymbolRequest & { readonly isUsed: boolean },
): MissingSymbol {
  const term = toCompoundTerm(name);
  if (isUsed || candidates.matching(quoteTerm(term), filter, 1).length > 0) {
    const what = isUsed ? 'code that uses it' : 'comments, documents or longer names with it';
    const message = `The index has no definition of ${name}, only ${what}.`;
    return { code: 'NOT_DEFINED', message, similar: findSimilar(candidates, filter, { name, known: [] }) };
  }
  const query = { ...parseQuery(name), terms: [term] };
  const { code, message, similar_terms: known } = diagnose({ query, filter, candidates, database });
  const isUnknown = code === 'TERMS_UNKNOWN';
  return {
    code,
    message: isUnknown ? `The index has no symbol ${name}.` : message,
    similar: isUnknown ? findSimilar(candidates, filter, { name, known }) : [],
  };
}

const MAX_EXAMINED = 300;
const MAX_SIMILAR = 5;

/** Symbols that share words with the name, or are spelled similarly. */
function findSimilar(
  candidates: Candidates,
  filter: FileFilter,
  { name, known }: { readonly name: string; readonly known: readonly string[] },
): readonly SimilarSymbol[] {
  const terms = [...new Set([...splitIdentifier(name), ...known.map(toCompoundTerm)])].filter(
    (term) => term !== '',
  );
  const words = new Set(splitIdentifier(name));
  const compound = toCompoundTerm(name);
  const likeness = ({ symbol }: Candidate): number => {
    const shared = new Set(splitIdentifier(symbol ?? '').filter((word) => words.has(word))).size;
    const edits = countEdits(compound, toCompoundTerm(symbol ?? ''));
    const isLike = edits <= Math.max(2, compound.length / 4) || (shared > 0 && shared * 2 >= words.size);
    return isLike ? 2 * shared - edits : -Infinity;
  };
  const best = new Map<string, Candidate>();
  for (const one of candidates.ranked(`name : (${joinWithOr(terms)})`, filter, MAX_EXAMINED))
    if (one.symbol !== null && !best.has(one.symbol)) best.set(one.symbol, one);
  return [...best.values()]
    .map((candidate) => ({ candidate, likeness: likeness(candidate) }))
    .filter((one) => one.likeness > -Infinity)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, MAX_SIMILAR)
    .map(({ candidate: { symbol, path, startLine } }) => ({
      ...{ symbol: symbol ?? '', file_path: path, start_line: startLine },
    }));
}

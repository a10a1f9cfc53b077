import type { FileFilter } from '../file-filter.ts';
import { listIndexedTerms } from '../terms.ts';
import { joinWithAnd, type Candidate, type Candidates } from './candidates.ts';

/** Maximum number of chunks that are read to find a text in them. */
const MAX_READ = 300;
const MAX_FOUND = 60;

/**
 * The chunks that contain a text exactly; if there are none, ignoring case. Every chunk is read only for a text without
 * terms, such as one of keywords only.
 */
export function findChunksWith(
  literal: string,
  candidates: Candidates,
  filter: FileFilter,
): readonly Candidate[] {
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

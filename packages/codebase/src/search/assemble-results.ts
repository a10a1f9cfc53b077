import type { ChunkKind, Language } from '../source-chunk.ts';
import { toIndexTerms } from '../terms.ts';
import type { Candidates, Candidate } from './candidates.ts';
import type { ParsedQuery } from './parse-query.ts';
import { isExact, type Ordered } from './rank.ts';
import { stemWord } from '@assay-mcp/kit/stem-word';

export interface SearchResult {
  readonly chunk_id: string;
  /** Relative to the repository. */
  readonly file_path: string;
  readonly content: string;
  /** One-based, inclusive. */
  readonly start_line: number;
  readonly end_line: number;
  /** 0 to 1, never rising from one result to the next; comparable within one search only. */
  readonly similarity_score: number;
  /** Up to ten lines. */
  readonly context_before: string;
  readonly context_after: string;
  readonly symbol: string | null;
  readonly parent: string | null;
  readonly kind: ChunkKind;
  readonly language: Language;
  readonly match_reason: string;
  /** Whether `content` was cut. `end_line` is then that of the whole chunk. */
  readonly content_truncated: boolean;
}

export interface Truncation {
  readonly limit_bytes: number;
  /** Results within `limit` that were left out. */
  readonly omitted_results: number;
  /** Whether the content of a result was cut. */
  readonly content_cut: boolean;
  readonly message: string;
}

export interface Assembly {
  readonly candidates: Candidates;
  readonly query: ParsedQuery;
  readonly limit: number;
  readonly maxBytes: number;
}

export interface Assembled {
  readonly results: readonly SearchResult[];
  readonly truncation: Truncation | null;
}

/** The texts of the first results, as many as fit. Identical definitions of a symbol in several files appear once. */
export function assembleResults(ordered: readonly Ordered[], assembly: Assembly): Assembled {
  const { limit, maxBytes } = assembly;
  const chosen = withoutCopies(ordered).slice(0, limit);
  const results: SearchResult[] = [];
  const scoreOf = scale(chosen, assembly);
  let bytes = 0;
  for (const entry of chosen) {
    const result = resultOf(entry, scoreOf(entry), assembly);
    const size = sizeOf(result);
    if (bytes + size > maxBytes) {
      if (results.length === 0) results.push(cut(result, maxBytes));
      break;
    }
    bytes += size;
    results.push(result);
  }
  return { results, truncation: truncationOf(results, chosen.length - results.length, maxBytes) };
}

function withoutCopies(ordered: readonly Ordered[]): readonly Ordered[] {
  const seen = new Set<string>();
  return ordered.filter(({ candidate: { symbol, contentHash } }) => {
    const key = `${symbol ?? ''}\n${contentHash}`;
    return !seen.has(key) && seen.add(key);
  });
}

/**
 * The first result scores the share of the query's words that it contains, the others in proportion to it. Definitions
 * and exact text score 1.
 */
function scale(chosen: readonly Ordered[], { candidates, query }: Assembly): (entry: Ordered) => number {
  const first = chosen.find((entry) => !isExact(entry, query));
  const share = first === undefined ? 0 : wordShare(first, candidates.contentOf(first.candidate.id), query);
  let least = 1;
  return (entry) => {
    const relative = first === undefined || first.score === 0 ? 0 : entry.score / first.score;
    least = isExact(entry, query) ? least : Math.min(least, share * relative);
    return Math.round(least * 10_000) / 10_000;
  };
}

function wordShare({ candidate, byMeaning }: Ordered, content: string, query: ParsedQuery): number {
  const { words } = query;
  const terms = toIndexTerms({ ...candidate, signature: '', content }, candidate.path);
  const known = new Set([terms.name, terms.context, terms.body].join(' ').split(' ').map(stemWord));
  const found = words.filter((word) => known.has(stemWord(word))).length;
  const share = words.length === 0 ? 0 : found / words.length;
  return byMeaning || query.isOneIdentifier ? Math.max(share, LEAST_SHARE) : share;
}

/**
 * Minimum score: a result by meaning, or with a longer identifier than the query's, may contain no word of the query.
 */
const LEAST_SHARE = 0.5;

function resultOf(entry: Ordered, score: number, { candidates, query }: Assembly): SearchResult {
  const { candidate } = entry;
  const { before, after } = readSurroundings(candidate, candidates);
  const content = candidates.contentOf(candidate.id);
  return {
    chunk_id: candidate.chunkId,
    file_path: candidate.path,
    content,
    start_line: candidate.startLine,
    end_line: candidate.endLine,
    similarity_score: score,
    context_before: before,
    context_after: after,
    symbol: candidate.symbol,
    parent: candidate.parent,
    kind: candidate.kind,
    language: candidate.language,
    match_reason: reasonOf(entry, content, query),
    content_truncated: false,
  };
}

const MAX_WORDS = 6;

function reasonOf(
  { candidate, definition, literal, byMeaning }: Ordered,
  content: string,
  query: ParsedQuery,
): string {
  if (literal) return 'contains the exact text';
  if (definition !== undefined) return `defines ${definition.name}`;
  const { name, context, body } = toIndexTerms({ ...candidate, signature: '', content }, candidate.path);
  const inName = matching(query.words, name);
  const inRest = matching(query.words, `${context} ${body}`).filter((word) => !inName.includes(word));
  const parts = [
    ...(inName.length === 0 ? [] : [`name has ${inName.join(', ')}`]),
    ...(inRest.length === 0 ? [] : [`code has ${inRest.slice(0, MAX_WORDS).join(', ')}`]),
    ...(byMeaning ? ['similar meaning'] : []),
  ];
  return parts.join('; ') || 'has a longer identifier with this part';
}

function matching(words: readonly string[], terms: string): readonly string[] {
  const known = new Set(terms.split(' ').map(stemWord));
  return words.filter((word) => known.has(stemWord(word)));
}

function sizeOf({ content, context_before, context_after }: SearchResult): number {
  return Buffer.byteLength(content) + Buffer.byteLength(context_before) + Buffer.byteLength(context_after);
}

/** The start of the content, without its surroundings. */
function cut(result: SearchResult, maxBytes: number): SearchResult {
  const content = Buffer.from(result.content)
    .subarray(0, maxBytes)
    .toString()
    .replace(/\uFFFD+$/, '');
  return {
    ...result,
    content,
    context_before: '',
    context_after: '',
    content_truncated: content.length < result.content.length,
  };
}

function truncationOf(
  results: readonly SearchResult[],
  omitted: number,
  maxBytes: number,
): Truncation | null {
  const isCut = results.some(({ content_truncated }) => content_truncated);
  if (omitted === 0 && !isCut) return null;
  const left = omitted === 0 ? [] : [`left out ${omitted} more ${omitted === 1 ? 'result' : 'results'}`];
  const parts = [...(isCut ? ['cut the content of a result'] : []), ...left];
  return {
    limit_bytes: maxBytes,
    omitted_results: omitted,
    content_cut: isCut,
    message: `To stay within ${maxBytes} bytes of code, the search ${parts.join(' and ')}. Narrow the query, or filter by directory or file_type.`,
  };
}

/** The lines around a chunk, joined by line breaks; empty at the start or the end of the file. */
interface Surroundings {
  readonly before: string;
  readonly after: string;
}

const LINES = 10;
/** Minified code has lines of a megabyte. */
const MAX_CHARACTERS = 2_000;

interface Neighbor {
  readonly start: number;
  readonly end: number;
  readonly content: string;
}

/** Read from the index, so that they belong to the same version of the file as the chunk. */
function readSurroundings({ fileId, startLine, endLine }: Candidate, candidates: Candidates): Surroundings {
  const read = candidates.statement(
    `SELECT start_line AS start, end_line AS "end", content FROM chunks
     WHERE file_id = @fileId AND end_line >= @first AND start_line <= @last ORDER BY ordinal LIMIT 40`,
  );
  const linesOf = (first: number, last: number): string =>
    linesBetween(read.all({ fileId, first, last }) as readonly Neighbor[], { first, last });
  return {
    before:
      startLine <= 1 ? '' : linesOf(Math.max(1, startLine - LINES), startLine - 1).slice(-MAX_CHARACTERS),
    after: linesOf(endLine + 1, endLine + LINES).slice(0, MAX_CHARACTERS),
  };
}

function linesBetween(
  chunks: readonly Neighbor[],
  { first, last }: { readonly first: number; readonly last: number },
): string {
  const lines: string[] = [];
  for (const { start, content } of chunks)
    content.split('\n').forEach((line, index) => {
      const at = start + index;
      if (at >= first && at <= last) lines[at - first] = line;
    });
  // Lines between chunks are blank, and are holes in the array.
  return Array.from(lines, (line: string | undefined) => line ?? '').join('\n');
}

import type { ChunkKind, Language } from '../source-chunk.ts';
import { toIndexTerms } from '../terms.ts';
import { createExcerpt, createMatchExcerpt, type Excerpt } from './excerpt.ts';
import { type FileFacts, FileFactsReader } from './file-facts.ts';
import type { Candidates, Candidate } from './candidates.ts';
import type { LineMatcher } from './line-matcher.ts';
import type { ParsedQuery } from './parse-query.ts';
import { isExact, type Ordered } from './rank.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { stemWord } from '@assay-mcp/kit/stem-word';

export interface SearchResult {
  readonly chunk_id: string;
  /** Relative to the repository. */
  readonly file_path: string;
  /** Present if the index has several repositories: the name of this one. */
  readonly repository?: string | undefined;
  /** Present if the file differs from what was indexed. */
  readonly state?: 'stale' | 'missing' | undefined;
  /** The best lines of the chunk, or all of them if surrounding lines were asked for. */
  readonly content: string;
  /** The one-based number of each line of `content`; absent if `content` is the whole chunk. */
  readonly lines?: readonly number[] | undefined;
  /** Of the chunk: one-based, inclusive. */
  readonly start_line: number;
  readonly end_line: number;
  /** 0 to 1, never rising from one result to the next; comparable within one search only. */
  readonly similarity_score: number;
  /** As many lines as were asked for; absent if none were. */
  readonly context_before?: string | undefined;
  readonly context_after?: string | undefined;
  readonly symbol: string | null;
  readonly parent: string | null;
  readonly kind: ChunkKind;
  readonly language: Language;
  readonly match_reason: string;
  /** Whether the chunk has more than `content`. */
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
  /** Words that were searched besides those of the query. */
  readonly synonyms: readonly string[];
  readonly limit: number;
  /** Number of lines around each chunk, which is then returned whole; undefined: its best lines only. */
  readonly context: number | undefined;
  /** For a search for lines that match: the lines to show. Each place counts, so none is left out as a copy. */
  readonly matcher?: LineMatcher | undefined;
  /** Whether the query is one identifier that the index does not have. */
  readonly isUnknown: boolean;
  /** Of the code in all results together. */
  readonly maxBytes: number;
  /** Bytes of the answer that hold something else, such as long notes. */
  readonly reservedBytes?: number | undefined;
}

/** A file with its best chunks, by position only. */
export interface FileResult {
  readonly file_path: string;
  readonly repository?: string | undefined;
  readonly state?: 'stale' | 'missing' | undefined;
  /** Up to three, best first. */
  readonly chunks: readonly FileChunk[];
}

export type FileChunk = Pick<SearchResult, 'start_line' | 'end_line' | 'kind' | 'symbol'>;

export interface Assembled {
  readonly results: readonly SearchResult[];
  /** The files in the order of their best chunks, at most as many as results were asked for. */
  readonly files: readonly FileResult[];
  readonly truncation: Truncation | null;
}

/**
 * The texts of the first results, as many as fit. Identical definitions of a symbol in several files appear once. Unless
 * whole chunks were asked for, ten results with their files have at most `MAX_ANSWER_BYTES` as JSON.
 */
export function assembleResults(ordered: readonly Ordered[], assembly: Assembly): Assembled {
  const { limit, context, reservedBytes = 0 } = assembly;
  const all = assembly.matcher === undefined ? withoutCopies(ordered) : ordered;
  const facts = new FileFactsReader(assembly.candidates);
  if (context !== undefined) return assembleWith(all, { ...assembly, ...FULL_DETAIL, facts });
  const maxBytes = MAX_ANSWER_BYTES * Math.max(1, limit / RESULTS_OF_ANSWER) - reservedBytes;
  let assembled: Assembled | undefined;
  for (const detail of DETAILS) {
    assembled = assembleWith(all, { ...assembly, ...detail, facts });
    if (jsonBytes(assembled) <= maxBytes) break;
  }
  return dropUntilFits(assembled ?? NOTHING, maxBytes);
}

interface Detail {
  /** Maximum number of bytes of an excerpt. */
  readonly excerptBytes: number;
  /** Whether files also list chunks that are not among the results. */
  readonly listsOthers: boolean;
}

/** Of the results and files, without the rest of the answer, which is to have 6 kB for ten results. */
const MAX_ANSWER_BYTES = 5_500;
const RESULTS_OF_ANSWER = 10;
/** With the numbers, the names and the JSON around it, ten results mostly fit into an answer. */
const FULL_DETAIL: Detail = { excerptBytes: 110, listsOthers: true };
/** Tried one after the other, for long paths and names. */
const DETAILS: readonly Detail[] = [
  FULL_DETAIL,
  { excerptBytes: 110, listsOthers: false },
  { excerptBytes: 70, listsOthers: false },
  { excerptBytes: 40, listsOthers: false },
];
const NOTHING: Assembled = { results: [], files: [], truncation: null };

function assembleWith(
  all: readonly Ordered[],
  options: Assembly & Detail & { readonly facts: FileFactsReader },
): Assembled {
  const { limit, maxBytes, facts, listsOthers } = options;
  const chosen = all.slice(0, limit);
  const results: SearchResult[] = [];
  const scoreOf = scale(chosen, options);
  let bytes = 0;
  for (const entry of chosen) {
    const result = buildResult(entry, { ...options, score: scoreOf(entry) });
    const size = countBytes(result);
    if (bytes + size > maxBytes) {
      if (results.length === 0) results.push(cut(result, maxBytes));
      break;
    }
    bytes += size;
    results.push(result);
  }
  const truncation = truncationOf(results, chosen.length - results.length, {
    bytes: maxBytes,
    unit: 'bytes of code',
  });
  const listed = listsOthers ? all : all.filter(isFirstOrIn(new Set(chosen)));
  return { results, files: groupByFile(listed, Math.min(limit, MAX_FILES), facts), truncation };
}

/** Whether a candidate is among the chosen ones, or is the best of its file. */
function isFirstOrIn(chosen: ReadonlySet<Ordered>): (entry: Ordered) => boolean {
  const seen = new Set<number>();
  return (entry) => {
    const isFirst = !seen.has(entry.candidate.fileId);
    seen.add(entry.candidate.fileId);
    return isFirst || chosen.has(entry);
  };
}

/** Paths may have thousands of characters. The first result stays. */
function dropUntilFits({ results, files, truncation }: Assembled, maxBytes: number): Assembled {
  const kept = { results: [...results], files: [...files] };
  while (kept.results.length > 1 && jsonBytes(kept) > maxBytes) {
    if (kept.files.length >= kept.results.length) kept.files.pop();
    else kept.results.pop();
  }
  const omitted = results.length - kept.results.length;
  if (omitted === 0) return { ...kept, truncation };
  return { ...kept, truncation: truncationOf(kept.results, omitted, { bytes: maxBytes, unit: 'bytes' }) };
}

function jsonBytes({ results, files }: Pick<Assembled, 'results' | 'files'>): number {
  return Buffer.byteLength(JSON.stringify([results, files.map(formatFileChunks)]));
}

/** A file of an answer, with its chunks as text. */
export function formatFileChunks({
  chunks,
  ...file
}: FileResult): Omit<FileResult, 'chunks'> & { readonly chunks: readonly string[] } {
  return { ...file, chunks: chunks.map(formatChunk) };
}

/** A chunk as `12-40 function parseHeader`. */
export function formatChunk({ start_line: start, end_line: end, kind, symbol }: FileChunk): string {
  return `${start}-${end} ${toPrintable(symbol === null ? kind : `${kind} ${symbol}`)}`;
}

const MAX_FILES = 10;
const MAX_CHUNKS_OF_FILE = 3;

function groupByFile(
  ordered: readonly Ordered[],
  limit: number,
  facts: FileFactsReader,
): readonly FileResult[] {
  const files = new Map<number, FileResult & { readonly chunks: FileChunk[] }>();
  for (const { candidate } of ordered) {
    const { fileId, path, startLine, endLine, kind, symbol } = candidate;
    const known = files.get(fileId);
    if (known === undefined && files.size >= limit) continue;
    const file = known ?? { file_path: path, ...pickFacts(facts.of(fileId)), chunks: [] };
    files.set(fileId, file);
    if (file.chunks.length < MAX_CHUNKS_OF_FILE)
      file.chunks.push({ start_line: startLine, end_line: endLine, kind, symbol });
  }
  return [...files.values()];
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
function scale(
  chosen: readonly Ordered[],
  { candidates, query, synonyms, isUnknown }: Assembly,
): (entry: Ordered) => number {
  const first = chosen.find((entry) => !isExact(entry, query));
  const share =
    first === undefined ? 0 : wordShare(first, candidates.contentOf(first.candidate.id), { query, synonyms });
  let least = isUnknown ? LEAST_SHARE : 1;
  return (entry) => {
    const relative = first === undefined || first.score === 0 ? 0 : entry.score / first.score;
    least = isExact(entry, query) ? least : Math.min(least, share * relative);
    return Math.round(least * 10_000) / 10_000;
  };
}

function wordShare(
  { candidate, byMeaning }: Ordered,
  content: string,
  { query, synonyms }: Pick<Assembly, 'query' | 'synonyms'>,
): number {
  const { words } = query;
  const terms = toIndexTerms({ ...candidate, signature: '', content }, candidate.path);
  const known = new Set([terms.name, terms.context, terms.body].join(' ').split(' ').map(stemWord));
  const found = words.filter((word) => known.has(stemWord(word))).length;
  const share = words.length === 0 ? 0 : found / words.length;
  return byMeaning || query.isOneIdentifier || synonyms.length > 0 ? Math.max(share, LEAST_SHARE) : share;
}

/**
 * Minimum score: a result by meaning, by synonyms, or with a longer identifier than the query's, may contain no word of
 * the query.
 */
const LEAST_SHARE = 0.5;

/** Without the members that say nothing. */
function pickFacts({ repository, state }: FileFacts): Pick<SearchResult, 'repository' | 'state'> {
  return { ...(repository !== undefined && { repository }), ...(state !== undefined && { state }) };
}

interface ResultOptions extends Assembly, Detail {
  readonly facts: FileFactsReader;
  readonly score: number;
}

function buildResult(entry: Ordered, options: ResultOptions): SearchResult {
  const { candidate } = entry;
  const { candidates, context, facts, score } = options;
  const { symbol, startLine } = candidate;
  const whole = candidates.contentOf(candidate.id);
  const excerpt = context === undefined ? buildExcerpt(candidate, whole, options) : undefined;
  const around = context === undefined ? undefined : readSurroundings(candidate, candidates, context);
  return {
    chunk_id: candidate.chunkId,
    file_path: candidate.path,
    ...pickFacts(facts.of(candidate.fileId)),
    content: excerpt?.text ?? whole,
    ...(excerpt !== undefined && { lines: excerpt.numbers }),
    start_line: startLine,
    end_line: candidate.endLine,
    similarity_score: score,
    ...(around !== undefined && { context_before: around.before, context_after: around.after }),
    symbol,
    parent: candidate.parent,
    kind: candidate.kind,
    language: candidate.language,
    match_reason: reasonOf(entry, whole, options),
    content_truncated: excerpt?.isPart ?? false,
  };
}

function buildExcerpt({ symbol, startLine }: Candidate, content: string, options: ResultOptions): Excerpt {
  const { query, synonyms, matcher, excerptBytes: maxBytes } = options;
  if (matcher !== undefined) return createMatchExcerpt(content, { startLine, find: matcher.find, maxBytes });
  const words = [...query.words, ...synonyms];
  return createExcerpt(content, { startLine, symbol, words, literals: query.literals, maxBytes });
}

const MAX_WORDS = 3;

function reasonOf(
  { candidate, definition, literal, isInFile, byMeaning }: Ordered,
  content: string,
  { query, synonyms, matcher }: Assembly,
): string {
  if (matcher !== undefined) {
    const count = content.split('\n').filter((line) => matcher.find(line) >= 0).length;
    return count === 1 ? '1 line matches' : `${count} lines match`;
  }
  if (isInFile) return 'in the file with this name';
  if (literal) return 'contains the exact text';
  if (definition !== undefined) return `defines ${definition.name}`;
  const { name, context, body } = toIndexTerms({ ...candidate, signature: '', content }, candidate.path);
  const inName = matching(query.words, name);
  const inRest = matching(query.words, `${context} ${body}`).filter((word) => !inName.includes(word));
  const similar = matching(synonyms, `${name} ${context} ${body}`);
  const parts = [
    ...(inName.length === 0 ? [] : [`name has ${inName.join(', ')}`]),
    ...(inRest.length === 0 ? [] : [`code has ${inRest.slice(0, MAX_WORDS).join(', ')}`]),
    ...(similar.length === 0 ? [] : [`similar words: ${similar.slice(0, MAX_WORDS).join(', ')}`]),
    ...(byMeaning ? ['similar meaning'] : []),
  ];
  return parts.join('; ') || 'has a longer identifier with this part';
}

function matching(words: readonly string[], terms: string): readonly string[] {
  const known = new Set(terms.split(' ').map(stemWord));
  return words.filter((word) => known.has(stemWord(word)));
}

function countBytes({ content, context_before = '', context_after = '' }: SearchResult): number {
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
    ...(result.context_before !== undefined && { context_before: '', context_after: '' }),
    content_truncated: content.length < result.content.length,
  };
}

/** What the answer had to stay within. */
interface SizeLimit {
  readonly bytes: number;
  readonly unit: 'bytes' | 'bytes of code';
}

function truncationOf(
  results: readonly SearchResult[],
  omitted: number,
  { bytes, unit }: SizeLimit,
): Truncation | null {
  const isCut = results.some(({ content_truncated, lines }) => content_truncated && lines === undefined);
  if (omitted === 0 && !isCut) return null;
  const left = omitted === 0 ? [] : [`left out ${omitted} more ${omitted === 1 ? 'result' : 'results'}`];
  const parts = [...(isCut ? ['cut the content of a result'] : []), ...left];
  return {
    limit_bytes: bytes,
    omitted_results: omitted,
    content_cut: isCut,
    message: `To stay within ${bytes} ${unit}, the search ${parts.join(' and ')}. Narrow the query, or filter by directory or file_type.`,
  };
}

/** The lines around a chunk, joined by line breaks; empty at the start or the end of the file. */
interface Surroundings {
  readonly before: string;
  readonly after: string;
}

/** Minified code has lines of a megabyte. */
const MAX_CHARACTERS = 2_000;

interface Neighbor {
  readonly start: number;
  readonly end: number;
  readonly content: string;
}

/** Read from the index, so that they belong to the same version of the file as the chunk. */
function readSurroundings(
  { fileId, startLine, endLine }: Candidate,
  candidates: Candidates,
  lines: number,
): Surroundings {
  if (lines === 0) return { before: '', after: '' };
  const read = candidates.statement(
    `SELECT start_line AS start, end_line AS "end", content FROM chunks
     WHERE file_id = @fileId AND end_line >= @first AND start_line <= @last ORDER BY ordinal LIMIT 40`,
  );
  const linesOf = (first: number, last: number): string =>
    linesBetween(read.all({ fileId, first, last }) as readonly Neighbor[], { first, last });
  return {
    before:
      startLine <= 1 ? '' : linesOf(Math.max(1, startLine - lines), startLine - 1).slice(-MAX_CHARACTERS),
    after: linesOf(endLine + 1, endLine + lines).slice(0, MAX_CHARACTERS),
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

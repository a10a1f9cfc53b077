import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { formatCount } from '@assay-mcp/kit/counted';
import { Turns } from '@assay-mcp/kit/turns';
import { assembleResults } from './assemble-results.ts';
import { type Candidate, type Candidates, getCandidates } from './candidates.ts';
import type { LineMatcher } from './line-matcher.ts';
import { parseQuery } from './parse-query.ts';
import { createPathFactor } from './path-factor.ts';
import { comparePositions, type Ordered, WEIGHTS } from './rank.ts';
import {
  DEFAULT_MAX_BYTES,
  findIndexedAt,
  type MatchCounts,
  type SearchAnswer,
  type SearchRequest,
} from './search-code.ts';

export interface TextSearchOptions {
  readonly matcher: LineMatcher;
  /** When aborted, the search stops as if its time were up. */
  readonly signal: AbortSignal;
  /** Maximum time in ms. Default: 3,000. */
  readonly maxMs?: number | undefined;
}

const MAX_MS = 3_000;
const MAX_CHUNKS = 5_000;
/** Size in bytes of the files that one statement reads. */
const BATCH_BYTES = 2_000_000;
const MAX_CHUNKS_OF_FILE = 3;
/** Of this search's own notes. */
const NOTE_BYTES = 250;

/**
 * Finds the lines that match in the indexed text of live files. Only reads. `database` is used by this search alone, in a
 * transaction.
 */
export async function searchText(
  database: Database,
  request: SearchRequest,
  options: TextSearchOptions,
): Promise<SearchAnswer> {
  const { matcher } = options;
  const candidates = getCandidates(database);
  const scan = await scanFiles(candidates, request, options);
  const { results, files, truncation } = assembleResults(orderMatches(scan.matches, request.query), {
    ...{ candidates, matcher, limit: request.limit, context: request.context },
    reservedBytes: (request.reservedBytes ?? 0) + NOTE_BYTES,
    query: { ...parseQuery(request.query), isLookup: true },
    synonyms: [],
    isUnknown: false,
    maxBytes: DEFAULT_MAX_BYTES,
  });
  const matches: MatchCounts = {
    lines: scan.matches.reduce((sum, { lines }) => sum + lines, 0),
    chunks: scan.matches.length,
    files: new Set(scan.matches.map(({ candidate }) => candidate.fileId)).size,
    is_complete: scan.stopped === undefined,
  };
  return {
    ...{ results, files, truncation, matches, mode: matcher.mode },
    total_count: results.length,
    truncated: truncation !== null,
    indexed_at: findIndexedAt(candidates, request),
    notes: [...describeStop(scan), ...(results.length === 0 ? [] : describeRest(matches, results.length))],
    diagnosis:
      results.length > 0
        ? null
        : {
            ...{ unknown_terms: [], similar_terms: [], files_searched: scan.fileCount },
            ...diagnoseNothing(scan, matcher),
          },
  };
}

interface Match {
  readonly candidate: Candidate;
  /** Number of lines that match. */
  readonly lines: number;
}

interface Scan {
  readonly matches: readonly Match[];
  /** Of the filter. */
  readonly fileCount: number;
  /** Share of the bytes that was searched, 0 to 1. */
  readonly share: number;
  /** Why not all was searched. */
  readonly stopped: 'time' | 'matches' | undefined;
}

async function scanFiles(
  candidates: Candidates,
  request: SearchRequest,
  { matcher, signal, maxMs = MAX_MS }: TextSearchOptions,
): Promise<Scan> {
  const files = candidates.listFiles(request);
  const allBytes = files.reduce((sum, { size }) => sum + size, 0);
  const found = new Map<number, number>();
  const endsAtMs = performance.now() + maxMs;
  const turns = new Turns();
  let doneBytes = 0;
  const toScan = (stopped: Scan['stopped']): Scan => ({
    ...{ matches: readMatches(found, candidates), fileCount: files.length, stopped },
    share: allBytes === 0 ? 1 : doneBytes / allBytes,
  });
  for (const { ids, bytes } of inBatches(files)) {
    for (const { id, content } of candidates.contents(ids, matcher.literal)) {
      const lines = matcher.mayMatch(content) ? countLines(content, matcher) : 0;
      if (lines > 0) found.set(id, lines);
      if (found.size >= MAX_CHUNKS) return toScan('matches');
      if (!turns.isOver && performance.now() < endsAtMs) continue;
      await turns.next();
      if (signal.aborted || performance.now() >= endsAtMs) return toScan('time');
    }
    doneBytes += bytes;
  }
  return toScan(undefined);
}

function readMatches(linesOf: ReadonlyMap<number, number>, candidates: Candidates): readonly Match[] {
  return candidates
    .byIds([...linesOf.keys()], {})
    .map((candidate) => ({ candidate, lines: linesOf.get(candidate.id) ?? 0 }));
}

interface FileSize {
  readonly id: number;
  readonly size: number;
}

function* inBatches(
  files: readonly FileSize[],
): Generator<{ readonly ids: readonly number[]; readonly bytes: number }> {
  let ids: number[] = [];
  let bytes = 0;
  for (const { id, size } of files) {
    ids.push(id);
    bytes += size;
    if (bytes < BATCH_BYTES) continue;
    yield { ids, bytes };
    ids = [];
    bytes = 0;
  }
  if (ids.length > 0) yield { ids, bytes };
}

function countLines(content: string, { find }: LineMatcher): number {
  return content.split('\n').filter((line) => find(line) >= 0).length;
}

/**
 * Files that define the text come first, then those that seldom hold an answer last, as in the ranked search. At first,
 * each file has up to three chunks, so that one file does not fill the answer.
 */
function orderMatches(matches: readonly Match[], query: string): readonly Ordered[] {
  const parsed = parseQuery(query);
  const factorOf = createPathFactor(parsed, WEIGHTS.paths);
  const scored = matches.map((match) => {
    const { symbol, isTest } = match.candidate;
    const isDefinition = symbol !== null && symbol === parsed.identifiers[0]?.name;
    const test = isTest && !parsed.asksForTests ? WEIGHTS.test : 1;
    return { ...match, score: factorOf(match.candidate) * test + Number(isDefinition) };
  });
  const byFile = Map.groupBy(scored, ({ candidate }) => candidate.fileId);
  const files = [...byFile.values()].map((chunks) => ({
    chunks: chunks.sort(
      (one, other) => other.score - one.score || comparePositions(one.candidate, other.candidate),
    ),
    lines: chunks.reduce((sum, { lines }) => sum + lines, 0),
  }));
  files.sort((one, other) => {
    const [first] = one.chunks;
    const [second] = other.chunks;
    if (first === undefined || second === undefined) return 0;
    return (
      second.score - first.score ||
      other.lines - one.lines ||
      comparePositions(first.candidate, second.candidate)
    );
  });
  return [
    ...files.flatMap(({ chunks }) => chunks.slice(0, MAX_CHUNKS_OF_FILE)),
    ...files.flatMap(({ chunks }) => chunks.slice(MAX_CHUNKS_OF_FILE)),
  ].map(({ candidate, score }) => ({
    ...{ candidate, score, definition: undefined },
    ...{ literal: true, isInFile: false, byMeaning: false },
  }));
}

const NARROW = 'Narrow the search with directory, file_type or repository_id.';

function describeStop({ stopped, share }: Scan): readonly string[] {
  if (stopped === undefined) return [];
  const why = stopped === 'time' ? 'the time limit was reached' : `${MAX_CHUNKS} chunks had matched`;
  const percent = Math.floor(share * 100);
  return [`The search stopped after ${percent} % of the indexed code, because ${why}. ${NARROW}`];
}

function describeRest({ lines, chunks, files }: MatchCounts, shown: number): readonly string[] {
  if (shown >= chunks) return [];
  const all = `${formatCount(lines, 'line')} in ${formatCount(files, 'file')}`;
  return [`${all} match, in ${chunks} chunks; ${shown} shown. Raise limit, or narrow the search.`];
}

function diagnoseNothing(
  { fileCount, stopped }: Scan,
  { mode }: LineMatcher,
): Pick<NonNullable<SearchAnswer['diagnosis']>, 'code' | 'message'> {
  if (fileCount === 0)
    return {
      code: 'FILTERED_OUT',
      message:
        'No indexed file passes the filters. Check repository_id, file_type and directory, or leave them out.',
    };
  const what = mode === 'exact' ? 'contains this text' : 'matches this regular expression';
  const where = stopped === undefined ? 'indexed line' : 'line that was searched';
  const next =
    mode === 'exact'
      ? 'Case and spaces count: leave out exact to search by words, or use regex with (?i).'
      : 'Case counts, unless the expression starts with (?i).';
  return { code: 'NO_MATCH', message: `No ${where} ${what}. ${next}` };
}

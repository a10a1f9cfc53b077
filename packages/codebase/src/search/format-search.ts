import { formatCount } from '@assay-mcp/kit/counted';
import { truncateText } from '@assay-mcp/kit/shorten';
import { toPrintable, toPrintableLines } from '@assay-mcp/kit/printable';
import { type FileResult, formatChunk, type SearchResult } from './assemble-results.ts';
import type { SearchAnswer } from './search-code.ts';

/**
 * The answer of a search as text for models: by file, each chunk with its place, kind and name, and below it its best
 * lines with their numbers, or all of its lines if the search was asked for them.
 */
export function formatSearch(query: string, project: string, answer: SearchAnswer): string {
  const { results, files, mode, truncation, diagnosis } = answer;
  const found = `${formatCount(results.length, 'result')} in ${formatCount(files.length, 'file')}`;
  return [
    `${found} for ${toPrintable(JSON.stringify(truncateText(query, MAX_QUERY_LENGTH)))} in project ${project} (${mode} search).`,
    ...answer.notes,
    ...(diagnosis === null ? [] : [diagnosis.message]),
    files.map((file) => formatFile(file, results)).join('\n'),
    ...(truncation === null ? [] : [truncation.message]),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

const MAX_QUERY_LENGTH = 100;

function formatFile(
  { file_path: path, repository, state, chunks }: FileResult,
  results: readonly SearchResult[],
): string {
  const where = toPrintable(repository === undefined ? path : `${repository}: ${path}`);
  return chunks
    .map((chunk, index) => {
      const result = results.find(
        (one) =>
          one.file_path === path &&
          one.repository === repository &&
          one.start_line === chunk.start_line &&
          one.end_line === chunk.end_line,
      );
      const note = index === 0 && state !== undefined ? `  [${NOTES[state]}]` : '';
      const place = `${index === 0 ? where : ' '}:${formatChunk(chunk)}${note}`;
      return [place, ...(result === undefined ? [] : formatLines(result))].join('\n');
    })
    .join('\n');
}

const NOTES = { stale: 'changed since it was indexed', missing: 'no longer there' } as const;

function formatLines({
  lines,
  content,
  start_line: start,
  context_before: before,
  context_after: after,
}: SearchResult): readonly string[] {
  if (lines !== undefined)
    return content.split('\n').map((line, index) => numberLine(lines[index] ?? start, line));
  const inside = content.split('\n');
  const above = splitLines(before);
  const below = splitLines(after);
  return [...above, ...inside, ...below].map((line, index) => numberLine(start - above.length + index, line));
}

function splitLines(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split('\n');
}

/** A number in front of each line also keeps code from looking like a place or a note of this answer. */
function numberLine(number: number, line: string): string {
  return `${number}\t${toPrintableLines(line)}`;
}

import type { Candidate, Candidates } from './candidates.ts';

/** The lines around a chunk, joined by line breaks; empty at the start or the end of the file. */
export interface Surroundings {
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
export function readSurroundings(
  { fileId, startLine, endLine }: Candidate,
  candidates: Candidates,
): Surroundings {
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

import type { SourceLines } from './source-lines.ts';

/** Zero-based, inclusive. */
export interface RowRange {
  readonly firstRow: number;
  readonly lastRow: number;
}

/** Only a chunk of one long line has more characters. */
export const MAX_CHARACTERS: number = 8_000;
/** Code without a symbol is mixed, so its chunks are smaller. */
const MAX_BLOCK_LINES = 80;

/** Cuts a range that is too large for one chunk, if possible at its least indented blank line. */
export function splitRows(lines: SourceLines, range: RowRange, isBlock: boolean): readonly RowRange[] {
  const pieces: RowRange[] = [];
  let { firstRow } = range;
  while (firstRow <= range.lastRow) {
    const limit = lastRowWithin(lines, { ...range, firstRow }, isBlock ? MAX_BLOCK_LINES : Infinity);
    const lastRow = limit === range.lastRow ? limit : bestBreak(lines, firstRow, limit);
    pieces.push({ firstRow, lastRow });
    firstRow = lastRow + 1;
  }
  return pieces;
}

function lastRowWithin(lines: SourceLines, { firstRow, lastRow }: RowRange, maxLines: number): number {
  let row = firstRow;
  while (row < lastRow && row + 1 - firstRow < maxLines && lines.length(firstRow, row + 1) <= MAX_CHARACTERS)
    row += 1;
  return row;
}

/** The last row of the piece. Only its second half is searched, so that pieces do not become small. */
function bestBreak(lines: SourceLines, firstRow: number, limit: number): number {
  let best = limit;
  let bestScore = Infinity;
  for (let row = limit; row > firstRow + (limit - firstRow) / 2; row -= 1) {
    const isAfterBlank = lines.isBlank(row, row);
    const score = lines.indent(row + 1) * 2 + (isAfterBlank ? 0 : 5);
    if (score >= bestScore) continue;
    best = row;
    bestScore = score;
  }
  return best;
}

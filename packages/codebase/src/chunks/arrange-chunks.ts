import type { SourceChunk } from '../source-chunk.ts';
import type { FoundSymbol } from './find-symbols.ts';
import { SourceLines } from './source-lines.ts';

type Labels = Pick<SourceChunk, 'kind' | 'symbol' | 'parent' | 'signature'>;
type Piece = Labels & RowRange;

/** Divides the lines of a file into chunks: its symbols and the code between them, without overlap. */
export function arrangeChunks(text: string, symbols: readonly FoundSymbol[]): readonly SourceChunk[] {
  const lines = new SourceLines(text);
  if (lines.isBlank(0, lines.count - 1)) return [];
  const pieces: Piece[] = [];
  const within = { firstRow: 0, lastRow: lines.count - 1 };
  arrange({ lines, pieces }, { symbols, within, labels: blockIn(null) });
  return pieces.flatMap((piece) => chunksOf(piece, lines));
}

interface Target {
  readonly lines: SourceLines;
  readonly pieces: Piece[];
}

interface Part {
  readonly symbols: readonly FoundSymbol[];
  readonly within: RowRange;
  /** The labels of lines before the first symbol. */
  readonly labels: Labels;
}

function blockIn(parent: string | null): Labels {
  return { kind: 'block', symbol: null, parent, signature: '' };
}

function arrange(target: Target, { symbols, within, labels }: Part): void {
  const { lines } = target;
  let row = within.firstRow;
  let labelsOfGap = labels;
  const between = labels.kind === 'block' ? labels : blockIn(pathOf(labels));
  for (const symbol of symbols) {
    // A line that two symbols share belongs to the first of them.
    const isFirst = target.pieces.length === 0 && lines.isBlank(row, symbol.firstRow - 1);
    const firstRow = isFirst ? row : Math.max(symbol.firstRow, row);
    const lastRow = Math.min(symbol.lastRow, within.lastRow);
    if (lastRow < firstRow) continue;
    addGap(target, { ...labelsOfGap, firstRow: row, lastRow: firstRow - 1 });
    labelsOfGap = between;
    addSymbol(target, symbol, { firstRow, lastRow });
    row = lastRow + 1;
  }
  addGap(target, { ...labelsOfGap, firstRow: row, lastRow: within.lastRow });
}

function addSymbol(target: Target, symbol: FoundSymbol, rows: RowRange): void {
  const labels: Labels = {
    kind: symbol.kind,
    symbol: symbol.name,
    parent: symbol.parent,
    signature: symbol.signature,
  };
  if (symbol.members.length === 0) target.pieces.push({ ...labels, ...rows });
  else arrange(target, { symbols: symbol.members, within: rows, labels });
}

/** Blank lines and closing brackets belong to what is above them. */
function addGap({ lines, pieces }: Target, gap: Piece): void {
  if (gap.lastRow < gap.firstRow) return;
  const last = pieces.at(-1);
  const isHeader = gap.kind !== 'block';
  if (last !== undefined && !isHeader) {
    let row = gap.firstRow;
    while (row <= gap.lastRow && lines.isClosing(row)) row += 1;
    pieces[pieces.length - 1] = { ...last, lastRow: row - 1 };
    if (row > gap.lastRow) return;
    pieces.push({ ...gap, firstRow: row });
  } else pieces.push(gap);
}

function pathOf({ parent, symbol }: Labels): string | null {
  if (symbol === null) return parent;
  return parent === null ? symbol : `${parent}.${symbol}`;
}

function chunksOf({ firstRow, lastRow, ...labels }: Piece, lines: SourceLines): SourceChunk[] {
  return splitRows(lines, { firstRow, lastRow }, labels.kind === 'block').map((rows) => ({
    ...labels,
    startLine: rows.firstRow + 1,
    endLine: rows.lastRow + 1,
    content: lines.text(rows.firstRow, rows.lastRow),
  }));
}

/** Zero-based, inclusive. */
interface RowRange {
  readonly firstRow: number;
  readonly lastRow: number;
}

/** Only a chunk of one long line has more characters. */
const MAX_CHARACTERS: number = 8_000;
/** Code without a symbol is mixed, so its chunks are smaller. */
const MAX_BLOCK_LINES = 80;

/** Cuts a range that is too large for one chunk, if possible at its least indented blank line. */
function splitRows(lines: SourceLines, range: RowRange, isBlock: boolean): readonly RowRange[] {
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

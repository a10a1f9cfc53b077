import { stripVTControlCharacters } from 'node:util';
import { eastAsianWidth } from 'get-east-asian-width';

const GAP = '  ';

interface TableLayout {
  /** Columns of the terminal. */
  readonly width: number;
  /** Styles the head. */
  readonly head?: (line: string) => string;
}

/**
 * Lines of a table that fits the width of the terminal. Columns are aligned by visible width. If they do not all fit,
 * the widest ones are narrowed, and their cells wrap at words or, within a long name, after a separator. A cell is
 * printable text, with at most one colour around all of it.
 */
export function layoutTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { width, head: styled = (line) => line }: TableLayout,
): string {
  const natural = head.map((title, column) =>
    rows.reduce(
      (widest, row) => Math.max(widest, measureWidth(uncoloured(row[column] ?? '').text)),
      measureWidth(title),
    ),
  );
  const widths = fitted(natural, width - GAP.length * (head.length - 1));
  return [styled(layoutRow(head, widths)), ...rows.map((row) => layoutRow(row, widths))].join('\n');
}

/** Narrows the widest columns to the same width, so that all fit. The last of them gets the remainder. */
function fitted(natural: readonly number[], room: number): readonly number[] {
  const sum = (most: number): number => natural.reduce((all, width) => all + Math.min(width, most), 0);
  if (sum(Infinity) <= room) return natural;
  let most = 1;
  while (sum(most + 1) <= room) most += 1;
  const last = natural.findLastIndex((width) => width > most);
  const rest = Math.max(room - sum(most), 0);
  return natural.map((width, column) => Math.min(width, column === last ? most + rest : most));
}

function layoutRow(row: readonly string[], widths: readonly number[]): string {
  const cells = widths.map((width, column) => {
    const { text, colour } = uncoloured(row[column] ?? '');
    return { colour, width, lines: wrapText(text, width) };
  });
  const height = Math.max(...cells.map(({ lines }) => lines.length));
  return Array.from({ length: height }, (_, at) =>
    cells
      .map(({ colour, width, lines }) => {
        const line = lines[at] ?? '';
        const shown = line === '' ? '' : colour(line);
        return shown + ' '.repeat(Math.max(width - measureWidth(line), 0));
      })
      .join(GAP)
      .trimEnd(),
  ).join('\n');
}

interface Uncoloured {
  readonly text: string;
  /** Adds the colour again, to a part of the text. */
  readonly colour: (part: string) => string;
}

// eslint-disable-next-line no-control-regex -- a colour code starts with a control character
const COLOURED = /^(\u001b\[3\d+m)([a-z -]+)(\u001b\[39m)$/;

/** Whether a cell is one word or phrase of our own in one colour. */
export function isColoured(cell: string): boolean {
  return COLOURED.test(cell);
}

function uncoloured(cell: string): Uncoloured {
  const [, begin = '', text = cell, end = ''] = COLOURED.exec(cell) ?? [];
  return { text, colour: (part) => begin + part + end };
}

/** Breaks a text into lines of at most `width` columns, at spaces, and within words that are too long. */
function wrapText(text: string, width: number): readonly string[] {
  if (measureWidth(text) <= width) return [text];
  return fillLines(
    text.split(' ').flatMap((one) => pieces(one, width)),
    width,
  );
}

/** Breaks a text into lines of at most `width` columns, at spaces only: commands and addresses stay whole. */
export function wrapWords(text: string, width: number): readonly string[] {
  return fillLines(
    text.split(' ').map((word) => ({ text: word, isRest: false })),
    width,
  );
}

function fillLines(parts: readonly Piece[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const { text, isRest } of parts) {
    const last = lines.at(-1) ?? '';
    const joined = last === '' ? text : `${last} ${text}`;
    if (lines.length === 0 || isRest || measureWidth(joined) > width) lines.push(text);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}

interface Piece {
  readonly text: string;
  /** Whether it continues the previous piece. */
  readonly isRest: boolean;
}

/** A name may be broken after these characters. */
const SEPARATOR = /[_\-./,:;@=&?]/;

function pieces(word: string, width: number): readonly Piece[] {
  if (measureWidth(word) <= width) return [{ text: word, isRest: false }];
  const found: string[] = [];
  let piece = '';
  let pieceWidth = 0;
  /** The length of the piece up to and including its last separator. */
  let breakAt = 0;
  for (const segment of listCharacters(word)) {
    const segmentWidth = measureWidth(segment);
    if (piece !== '' && pieceWidth + segmentWidth > width) {
      // A break close to the start would leave most of the line empty.
      const cut = breakAt > piece.length / 2 ? breakAt : piece.length;
      found.push(piece.slice(0, cut));
      piece = piece.slice(cut);
      pieceWidth = measureWidth(piece);
      breakAt = 0;
    }
    piece += segment;
    pieceWidth += segmentWidth;
    if (SEPARATOR.test(segment)) breakAt = piece.length;
  }
  return [...found, piece].map((text, at) => ({ text, isRest: at > 0 }));
}

/** Each character takes one column and is one for people, too. */
const PLAIN = /^[ -~…]*$/;
let lazySegmenter: Intl.Segmenter | undefined;

/** The characters as people see them. The segmenter is created on demand: that takes 10 ms, and most texts are plain. */
function listCharacters(text: string): readonly string[] {
  if (PLAIN.test(text)) return text.split('');
  lazySegmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(lazySegmenter.segment(text), ({ segment }) => segment);
}

/** Number of terminal columns of a text: characters of East Asian scripts and emoji take two. */
export function measureWidth(text: string): number {
  const visible = PLAIN.test(text) ? text : stripVTControlCharacters(text);
  if (PLAIN.test(visible)) return visible.length;
  return listCharacters(visible).reduce((width, character) => width + measureCharacter(character), 0);
}

/** The text, cut so that it takes at most `width` columns of a terminal. */
export function truncateToWidth(text: string, width: number): string {
  return measureWidth(text) <= width ? text : `${splitToWidth(text, width - 1)[0] ?? ''}…`;
}

/** Parts of at most `width` columns, which may end within a word. */
export function splitToWidth(text: string, width: number): readonly string[] {
  const parts: string[] = [];
  let [part, partWidth] = ['', 0];
  for (const character of listCharacters(text)) {
    const columns = measureWidth(character);
    if (partWidth + columns > width && part !== '') {
      parts.push(part);
      [part, partWidth] = ['', 0];
    }
    part += character;
    partWidth += columns;
  }
  return [...parts, part];
}

let lazyEmoji: RegExp | undefined;
/** Characters that take no column of their own, such as accents and joiners. */
const INVISIBLE =
  /[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Surrogate}]/gv;
/** Marks that take a column beside the character that they belong to. */
const SPACING = /[\p{Spacing_Mark}\uff00-\uffef]/v;

function measureCharacter(character: string): number {
  // Created on demand: that takes 12 ms.
  lazyEmoji ??= new RegExp('\\p{RGI_Emoji}', 'v');
  if (lazyEmoji.test(character)) return 2;
  const [base, ...marks] = character.replace(INVISIBLE, '');
  const taking = base === undefined ? [] : [base, ...marks.filter((mark) => SPACING.test(mark))];
  return taking.reduce((width, one) => width + eastAsianWidth(one.codePointAt(0) ?? 0), 0);
}

import { printable } from '../../core/printable.ts';
import { style } from './output.ts';

const GAP = '  ';
const WIDEST = 200;

/**
 * Columns aligned by what is seen; the last one is wrapped at words to the width of the terminal. Of what a terminal
 * obeys only one colour around a whole cell passes.
 */
export function tableOf(head: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(safe));
  const widths = head.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, style.strip(row[column] ?? '').length), title.length),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const room = Math.max(Math.min(process.stdout.columns || WIDEST, WIDEST) - before, 30);
  const line = (cells: readonly string[]): string => {
    const padded = cells
      .slice(0, -1)
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - style.strip(cell).length));
    const [first = '', ...more] = wrapped(cells.at(-1) ?? '', room);
    return [[...padded, first].join(GAP).trimEnd(), ...more.map((part) => ' '.repeat(before) + part)].join(
      '\n',
    );
  };
  return [style.dim(line(head)), ...rows.map(line)].join('\n');
}

// eslint-disable-next-line no-control-regex -- a colour begins with a control
const COLOURED = /^(\u001b\[3\d+m)([a-z]+)(\u001b\[39m)$/;

function safe(cell: string): string {
  return COLOURED.test(cell) ? cell : printable(cell);
}

const PROSE_WIDTH = 80;

/** Sentences for a person: wrapped at words at a terminal, and one line for a program. */
export function proseOf(
  text: string,
  {
    indent = '',
    isTerminal = process.stdout.isTTY,
  }: { readonly indent?: string; readonly isTerminal?: boolean } = {},
): string {
  const lines = isTerminal ? wrapped(text, PROSE_WIDTH - indent.length) : [text];
  return lines.map((line) => indent + line).join('\n');
}

function wrapped(text: string, room: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > room) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

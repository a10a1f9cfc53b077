import { Ansis } from 'ansis';
import { toPrintable, toPrintableJson, toPrintableLines } from '../../printable.ts';
import { isColoured, layoutTable, measureWidth, wrapWords } from './table.ts';

const PROSE_WIDTH = 80;

/** Writes lines to stdout, at a terminal wrapped at words. */
export function print(text: string): void {
  console.log(wrapToTerminal(safe(text), process.stdout));
}

/** Writes a line to stdout, however wide it is. */
export function printLine(text: string): void {
  console.log(safe(text));
}

/** Writes lines to stderr, at a terminal wrapped at words. */
export function printError(text: string): void {
  console.error(wrapToTerminal(safe(text), process.stderr));
}

/** Wraps lines that are too wide for the terminal; their indentation is kept, and no word is broken. */
export function wrapToTerminal(
  text: string,
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
): string {
  if (!isTTY) return text;
  const width = columns || PROSE_WIDTH;
  const lines = text.split('\n').flatMap((line) => {
    const [indent = ''] = /^ */.exec(line) ?? [];
    const parts =
      measureWidth(line) <= width ? [] : wrapWords(line.slice(indent.length), width - indent.length);
    return parts.length === 0 ? [line] : parts.map((part) => indent + part);
  });
  return lines.join('\n');
}

/** Writes foreign text or text for programs to stdout: unchanged to a file or pipe, escaped for a terminal. */
export function printText(text: string): void {
  console.log(process.stdout.isTTY ? toPrintableLines(text.replaceAll('\r\n', '\n')) : text);
}

/** Writes a value to stdout as JSON without terminal control characters. */
export function printJson(value: unknown): void {
  console.log(formatJson(value));
}

/** Indented JSON that escapes invisible and control characters. */
export function formatJson(value: unknown): string {
  return toPrintableJson(JSON.stringify(value, undefined, 2));
}

/** The codes of `style.ts`. */
// eslint-disable-next-line no-control-regex -- a colour code starts with a control character
const STYLES = /(\u001b\[(?:[12]|22|3[0-7]|39|9[0-7])m)/;

/** The last guard against foreign text. Callers put it into lines with `toPrintable`, which also escapes line feeds. */
function safe(text: string): string {
  return text
    .split(STYLES)
    .map((part, index) => (index % 2 === 1 ? part : toPrintableLines(part)))
    .join('');
}

/** Colours only for a terminal or with FORCE_COLOR; CI systems read plain text from a pipe. */
const isWanted = process.stdout.isTTY || process.env['FORCE_COLOR'] !== undefined;

export const style: Ansis = isWanted ? new Ansis() : new Ansis(0);

/** Foreign text quoted inside a sentence: one line, escaped. */
export function quoteText(text: string): string {
  return toPrintable(JSON.stringify(text));
}

/**
 * A table no wider than the terminal. The only control sequence allowed in a cell is one colour around all of it. To a
 * file or pipe, each row is one line, however wide: programs read it.
 */
export function formatTable(head: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map((cell) => (isColoured(cell) ? cell : toPrintable(cell))));
  const width = process.stdout.isTTY ? process.stdout.columns || PROSE_WIDTH : Infinity;
  return layoutTable(head, rows, { width, head: (line) => style.dim(line) });
}

/** Prose: wrapped at words for a terminal, one line for a program. */
export function formatProse(
  text: string,
  {
    indent = '',
    isTerminal = process.stdout.isTTY,
  }: { readonly indent?: string; readonly isTerminal?: boolean } = {},
): string {
  const lines = isTerminal ? wrapWords(text, PROSE_WIDTH - indent.length) : [text];
  return lines.map((line) => indent + line).join('\n');
}

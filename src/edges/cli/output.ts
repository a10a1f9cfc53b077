import { Ansis } from 'ansis';
import { facesOf } from '../../core/errors.ts';
import { printable, printableJson, printableLines } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { sentenceOf } from '../../core/sentences.ts';
import type { ToolView } from '../../gateway/services/tools/tool-view.ts';

/** Writes lines to stdout. */
export function print(text: string): void {
  console.log(safe(text));
}

/** Writes lines to stderr. */
export function printError(text: string): void {
  console.error(safe(text));
}

/** Writes somebody's text to stdout: as it is into a file or another program, and safe for a terminal. */
export function printText(text: string): void {
  console.log(process.stdout.isTTY ? printableLines(text.replaceAll('\r\n', '\n')) : text);
}

/** Writes a value to stdout as JSON in which a terminal obeys nothing. */
export function printJson(value: unknown): void {
  console.log(jsonText(value));
}

/** Indented, with JSON's own escapes for what is not seen or what a terminal obeys. */
export function jsonText(value: unknown): string {
  return printableJson(JSON.stringify(value, undefined, 2));
}

/** The codes of `style.ts`. */
// eslint-disable-next-line no-control-regex -- a colour begins with a control
const STYLES = /(\u001b\[(?:[12]|22|3[0-7]|39|9[0-7])m)/;

/**
 * The last guard for texts from elsewhere. Who puts one into a line shows it with `printable`, which leaves no line feed in
 * it either.
 */
function safe(text: string): string {
  return text
    .split(STYLES)
    .map((part, index) => (index % 2 === 1 ? part : printableLines(part)))
    .join('');
}

/** Colours for a terminal alone, or where FORCE_COLOR asks for them: also a CI machine reads plain text from a pipe. */
const isWanted = process.stdout.isTTY || process.env['FORCE_COLOR'] !== undefined;

export const style: Ansis = isWanted ? new Ansis() : new Ansis(0);

/** Somebody's text inside a sentence of ours: one line, escaped. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text));
}

/** What is wrong with an argument, where something is; the reason ends a sentence. */
export function argumentFault(field: string, reason: string | undefined): Refusal | undefined {
  return reason === undefined ? undefined : { code: 'ARGUMENTS_INVALID', reason: `${field}: ${reason}` };
}

/** Says on stderr what was refused; gives the exit code. */
export function printComplaint(refusal: Refusal): number {
  printError(`assay: ${sentenceOf(refusal)}`);
  return facesOf(refusal).exit;
}

/** "read-only (inferred: GET request)" */
export function hintsPhrase({ hints }: Pick<ToolView, 'hints'>): string {
  const { readOnlyHint, destructiveHint, idempotentHint } = hints;
  const deciding = readOnlyHint.effective ? readOnlyHint : destructiveHint;
  const risk = readOnlyHint.effective ? 'read-only' : destructiveHint.effective ? 'destructive' : 'writes';
  const more = !readOnlyHint.effective && idempotentHint.effective ? ', idempotent' : '';
  const [claim] = deciding.claims.filter(({ kind }) => kind === deciding.decidedBy);
  const why = claim?.reason === undefined ? deciding.decidedBy : `${deciding.decidedBy}: ${claim.reason}`;
  return `${risk}${more} (${why})`;
}

/** `name: value` or `NAME=value`, as an object. ARGUMENTS_INVALID names what is neither. */
export function pairsIn(
  option: string,
  given: readonly string[],
  separator: ':' | '=',
): Result<Readonly<Record<string, string>>, Refusal> {
  const pairs: (readonly [string, string])[] = [];
  for (const text of given) {
    const at = text.indexOf(separator);
    // What was given is not repeated: it may be a secret.
    if (at < 1)
      return err({ code: 'ARGUMENTS_INVALID', reason: `${option}: write it as name${separator}value` });
    pairs.push([text.slice(0, at).trim(), text.slice(at + 1).trim()]);
  }
  return ok(Object.fromEntries(pairs));
}

const GAP = '  ';
const WIDEST = 200;

/**
 * Columns aligned by what is seen; the last one is wrapped at words to the width of the terminal. Of what a terminal
 * obeys only one colour around a whole cell passes.
 */
export function tableOf(head: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(safeCell));
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

function safeCell(cell: string): string {
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

import { Ansis } from 'ansis';
import { getExitCode } from '../../core/errors.ts';
import { toField } from '../../core/json-position.ts';
import { toPrintable, toPrintableJson, toPrintableLines } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { formatRefusal } from '../../core/sentences.ts';
import type { Tool } from '../../api/tool.ts';
import type { CodedProblem } from '../../api/problem.ts';
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

/** Prints a refusal to stderr and returns its exit code. */
export function printRefusal(refusal: Refusal): number {
  printError(`assay: ${formatRefusal(refusal)}`);
  return getExitCode(refusal);
}

/** Prints a refused request, or a refusal of the command itself, and returns its exit code. */
export function printFailure(failure: CodedProblem | Refusal): number {
  return 'detail' in failure ? printProblem(failure) : printRefusal(failure);
}

/** Prints a refused request to stderr, like the refusal of a local command, and returns its exit code. */
function printProblem({ code, detail, errors = [] }: CodedProblem): number {
  const lines = errors.map(
    (one) => `${toPrintable(toField(one.pointer ?? '') || (one.parameter ?? ''))}: ${one.detail}`,
  );
  // The user of a command gave arguments and knows of no body.
  const [first, ...more] = code === 'BODY_INVALID' && lines.length > 0 ? lines : [detail, ...lines.slice(1)];
  printError(`assay: ${first ?? ''}`);
  for (const line of more) printError(`  ${line}`);
  return getExitCode({ code });
}

/** For example "read-only (inferred: GET request)". */
export function formatHints({ hints }: Pick<Tool, 'hints'>): string {
  const { readOnlyHint, destructiveHint, idempotentHint } = hints;
  const deciding = readOnlyHint.effective ? readOnlyHint : destructiveHint;
  const risk = readOnlyHint.effective ? 'read-only' : destructiveHint.effective ? 'destructive' : 'writes';
  const more = !readOnlyHint.effective && idempotentHint.effective ? ', idempotent' : '';
  const [claim] = deciding.claims.filter(({ kind }) => kind === deciding.decidedBy);
  const why = claim?.reason === undefined ? deciding.decidedBy : `${deciding.decidedBy}: ${claim.reason}`;
  return `${risk}${more} (${why})`;
}

/** The places at which a definition changed. Never truncated: the part cut off might be the one that matters. */
export function formatChanges(changes: NonNullable<Tool['drift']>['changes']): readonly string[] {
  return changes.flatMap(({ path, before, after }) => [
    `  ${path === '' ? 'the whole' : toPrintable(path)}`,
    ...(before === undefined ? [] : [style.red(`    - ${toPrintable(before)}`)]),
    ...(after === undefined ? [] : [style.green(`    + ${toPrintable(after)}`)]),
  ]);
}

/** Parses `name: value` or `NAME=value` pairs into an object. ARGUMENTS_INVALID */
export function parsePairs(
  option: string,
  given: readonly string[],
  separator: ':' | '=',
): Result<Readonly<Record<string, string>>, Refusal> {
  const pairs: (readonly [string, string])[] = [];
  for (const text of given) {
    const at = text.indexOf(separator);
    // The error does not repeat the input: it may be a secret.
    if (at < 1)
      return err({ code: 'ARGUMENTS_INVALID', reason: `${option}: write it as name${separator}value` });
    pairs.push([text.slice(0, at).trim(), text.slice(at + 1).trim()]);
  }
  return ok(Object.fromEntries(pairs));
}

const MAX_TABLE_WIDTH = 200;

/**
 * A table no wider than the terminal. The only control sequence allowed in a cell is one colour around all of it. To a
 * file or pipe, lines have up to 200 columns.
 */
export function formatTable(head: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map((cell) => (isColoured(cell) ? cell : toPrintable(cell))));
  const width = Math.min(process.stdout.columns || MAX_TABLE_WIDTH, MAX_TABLE_WIDTH);
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

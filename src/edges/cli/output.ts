import { printableJson, printableLines } from '../../core/printable.ts';

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

import { shorten } from '@assay-mcp/kit/shorten';
import { stemWord } from '@assay-mcp/kit/stem-word';
import { splitIdentifier } from '../terms.ts';
import type { LineMatcher } from './line-matcher.ts';

/** The lines of a chunk that show best why it was found. */
export interface Excerpt {
  /** One-based numbers in the file, rising. */
  readonly numbers: readonly number[];
  /** The lines, joined by line breaks. A long line is cut. */
  readonly text: string;
  /** Whether the chunk has more than these lines. */
  readonly isPart: boolean;
}

export interface ExcerptOptions {
  readonly startLine: number;
  readonly symbol: string | null;
  readonly words: readonly string[];
  readonly literals: readonly string[];
  /** Of all lines together. The first one is cut to it. */
  readonly maxBytes: number;
}

const MAX_LINES = 3;
/** A chunk of at most this many lines is shown whole if it has few bytes. */
const MAX_LINES_OF_SHORT = 5;
const LITERAL_SCORE = 100;

/** The line that declares the symbol, and those with most of the query's words or with its exact text. */
export function createExcerpt(content: string, options: ExcerptOptions): Excerpt {
  const { startLine, symbol, literals, maxBytes } = options;
  const lines = content.split('\n');
  if (lines.length <= MAX_LINES_OF_SHORT && Buffer.byteLength(content) <= maxBytes)
    return { numbers: lines.map((_, index) => startLine + index), text: content, isPart: false };
  const stems = new Set(options.words.map(stemWord));
  const declared = Math.max(
    0,
    lines.findIndex((line) => (symbol === null ? line.trim() !== '' : line.includes(symbol))),
  );
  const scored = lines
    .map((line, index) => ({ index, score: scoreLine(line, stems, literals) }))
    .filter(({ index, score }) => score > 0 && index !== declared)
    .sort((one, other) => other.score - one.score || one.index - other.index);
  const chosen: number[] = [];
  let bytes = 0;
  for (const index of [declared, ...scored.map(({ index: at }) => at)]) {
    const size = Buffer.byteLength(shorten((lines[index] ?? '').trimEnd(), maxBytes)) + 1;
    if (chosen.length > 0 && bytes + size > maxBytes) continue;
    chosen.push(index);
    bytes += size;
    if (chosen.length >= MAX_LINES) break;
  }
  chosen.sort((one, other) => one - other);
  const texts = chosen.map((index) => shorten((lines[index] ?? '').trimEnd(), maxBytes));
  return {
    numbers: chosen.map((index) => startLine + index),
    text: texts.join('\n'),
    isPart: texts.join('\n').length < content.trimEnd().length,
  };
}

/** The first lines of a chunk that match, each cut around its match. */
export function createMatchExcerpt(
  content: string,
  { startLine, find, maxBytes }: Pick<ExcerptOptions, 'startLine' | 'maxBytes'> & Pick<LineMatcher, 'find'>,
): Excerpt {
  const lines = content.split('\n');
  const shown: { readonly number: number; readonly text: string }[] = [];
  let bytes = 0;
  for (const [index, line] of lines.entries()) {
    const at = find(line);
    if (at < 0) continue;
    const text = shortenAround(line, at, maxBytes);
    bytes += Buffer.byteLength(text) + 1;
    if (shown.length > 0 && (bytes > maxBytes || shown.length >= MAX_LINES)) break;
    shown.push({ number: startLine + index, text });
  }
  return {
    numbers: shown.map(({ number }) => number),
    text: shown.map(({ text }) => text).join('\n'),
    isPart: shown.map(({ text }) => text).join('\n') !== content.trimEnd(),
  };
}

function shortenAround(line: string, at: number, maxLength: number): string {
  const before = Math.floor(maxLength / 4);
  const end = line.trimEnd();
  if (end.length <= maxLength || at <= before) return shorten(end, maxLength);
  return `…${shorten(end.slice(at - before).replace(/^[\uDC00-\uDFFF]/, ''), maxLength)}`;
}

function scoreLine(line: string, stems: ReadonlySet<string>, literals: readonly string[]): number {
  const found = new Set<string>();
  for (const word of splitIdentifier(line.slice(0, MAX_SCANNED))) {
    const stem = stemWord(word);
    if (stems.has(stem)) found.add(stem);
  }
  return found.size + (literals.some((literal) => line.includes(literal)) ? LITERAL_SCORE : 0);
}

const MAX_SCANNED = 1_000;

import { detectLanguage } from '../chunks/languages.ts';
import { decodeText, readBytes } from '../files/read-source.ts';
import type { SkipReason } from '../files/skip-reason.ts';
import { findDeclaredNames } from '../declared-names.ts';
import type { Language } from '../source-chunk.ts';
import { outlineSource, type OutlinedSymbol } from './outline-source.ts';

export interface OutlineJob {
  /** The real path. */
  readonly absolutePath: string;
  readonly maxBytes: number;
  /** Only the symbols with this name, and their code. */
  readonly name?: string | undefined;
}

/** A symbol and its code. */
export interface LocatedSymbol extends OutlinedSymbol {
  /** From `code_line` on, at most `MAX_CODE_LINES` lines. Empty unless a name was asked for. */
  readonly code: string;
  /** Whether it is only a line that declares the name, such as a constant, a field or a macro. */
  readonly isLine: boolean;
}

export type FileOutline =
  | { readonly outcome: 'unreadable'; readonly reason: SkipReason }
  | {
      readonly outcome: 'outlined';
      readonly language: Language;
      /** False if the language is not parsed, or parsing took too much work. */
      readonly isParsed: boolean;
      readonly symbols: readonly LocatedSymbol[];
    };

const MAX_CODE_LINES = 40;
const MAX_CODE_LENGTH = 4_000;
/** Symbols with one name in one file, such as overloads. */
const MAX_LOCATED = 50;

/** Reads and parses a file as it is now. */
export async function outlineFile({ absolutePath, maxBytes, name }: OutlineJob): Promise<FileOutline> {
  const read = readBytes(absolutePath, maxBytes);
  if (!read.ok) return { outcome: 'unreadable', reason: read.reason };
  const decoded = decodeText(read.bytes);
  if (decoded === undefined) return { outcome: 'unreadable', reason: 'binary' };
  const { text } = decoded;
  const language = detectLanguage(absolutePath, text);
  const symbols = await outlineSource(text, language);
  const isParsed = symbols !== undefined;
  if (name === undefined)
    return {
      ...{ outcome: 'outlined', language, isParsed },
      symbols: (symbols ?? []).map((one) => ({ ...one, code: '', isLine: false })),
    };
  const lines = text.split('\n');
  const named = (symbols ?? []).filter((one) => one.name === name);
  const isLine = named.length === 0;
  const located = isLine ? findDeclaringLines(lines, name, symbols ?? []) : named;
  return {
    ...{ outcome: 'outlined', language, isParsed },
    symbols: located.slice(0, MAX_LOCATED).map((one) => ({ ...one, code: readCode(one, lines), isLine })),
  };
}

function readCode({ code_line: first, end_line: last }: OutlinedSymbol, lines: readonly string[]): string {
  return lines
    .slice(first - 1, Math.min(last, first - 1 + MAX_CODE_LINES))
    .join('\n')
    .slice(0, MAX_CODE_LENGTH);
}

/** Constants, fields and macros on one line, which are no symbols of their own, and what the parser did not understand. */
function findDeclaringLines(
  lines: readonly string[],
  name: string,
  symbols: readonly OutlinedSymbol[],
): readonly OutlinedSymbol[] {
  const declaring = lines.flatMap((line, row) => {
    if (!line.includes(name) || FORWARD.test(line)) return [];
    // The deeper a line is, the less likely it defines anything, unless a keyword says so.
    const read = DEFINING.test(line) ? line.trimStart() : line;
    if (!findDeclaredNames('block', read).includes(name)) return [];
    const at = row + 1;
    const around = symbols.findLast(({ start_line: start, end_line: end }) => start <= at && end >= at);
    const parent = around === undefined ? null : [around.parent, around.name].filter(Boolean).join('.');
    const signature = line.trim().slice(0, MAX_SIGNATURE_LENGTH);
    const place = { start_line: at, end_line: at, declared_line: at, code_line: at };
    const keyword = DEFINING.exec(line)?.[1];
    const kind = keyword === undefined ? 'constant' : (KINDS[keyword] ?? keyword);
    return [{ kind, name, parent, signature, ...place, depth: 0, doc: '' }];
  });
  // A line that opens a body defines more than one that only refers to it.
  const opens = ({ signature }: OutlinedSymbol): boolean => signature.endsWith('{');
  return declaring.sort((one, other) => Number(opens(other)) - Number(opens(one)));
}

const MAX_SIGNATURE_LENGTH = 300;
/** `struct client;` */
const FORWARD = /^\s*(?:struct|class|union|enum)\s+\w+\s*;/;
/** A keyword that begins a definition. */
export const DEFINING: RegExp =
  /^\s*(?:[a-z]+\s+){0,3}(def|fn|fun|func|function|struct|class|enum|interface|trait|type|module)\s/;
const KINDS: Readonly<Record<string, string>> = {
  def: 'function',
  fn: 'function',
  fun: 'function',
  func: 'function',
};

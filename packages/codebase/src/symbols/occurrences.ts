import type { Language } from '../source-chunk.ts';

/** A line that has a name as a whole word. */
export interface Occurrence {
  readonly line: number;
  readonly text: string;
  readonly isCall: boolean;
  /** Whether it is read from something, as in `cart.total` or `Cart::total`. */
  readonly isMember: boolean;
  readonly isImport: boolean;
}

const MAX_TEXT_LENGTH = 120;

/** The lines of a text that have a name as a whole word, except in comments and docstrings. `startLine`: the number of its first line. */
export function findOccurrences(
  text: string,
  { name, language, startLine }: { readonly name: string; readonly language: Language; startLine: number },
): readonly Occurrence[] {
  const found: Occurrence[] = [];
  let line = startLine;
  let lineStart = 0;
  for (let at = findWord(text, name, 0); at >= 0; at = findWord(text, name, lineStart)) {
    for (let end = text.indexOf('\n', lineStart); end >= 0 && end < at; end = text.indexOf('\n', lineStart)) {
      line += 1;
      lineStart = end + 1;
    }
    const end = text.indexOf('\n', at);
    const content = text.slice(lineStart, end < 0 ? undefined : end);
    if (!isComment(content, language) && !isInDocstring(text, at, language)) {
      const described = describeLine(content, { line, name, language });
      if (described !== undefined) found.push(described);
    }
    if (end < 0) break;
    line += 1;
    lineStart = end + 1;
  }
  return found;
}

/** A string that is nothing but the name is data more often than a use. */
const QUOTE = /["'`]/;

function findWord(text: string, name: string, from: number): number {
  for (let at = text.indexOf(name, from); at >= 0; at = text.indexOf(name, at + 1))
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + name.length])) return at;
  return -1;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{M}\p{N}_$]/u.test(character);
}

/** Of several places in a line, the first that is a member. Undefined if all are strings. */
function describeLine(
  content: string,
  { line, name, language }: { readonly line: number; readonly name: string; readonly language: Language },
): Occurrence | undefined {
  let first: Occurrence | undefined;
  for (let at = findWord(content, name, 0); at >= 0; at = findWord(content, name, at + name.length)) {
    const quote = content[at - 1] ?? '';
    if (language !== 'text' && QUOTE.test(quote) && quote === content[at + name.length]) continue;
    const rest = content.slice(at + name.length, at + name.length + MAX_TEXT_LENGTH);
    const described = {
      line,
      text: shortenAround(content, at),
      isCall: /^(?:<[^<>]*>|::<[^<>]*>)?[!?]?\(/.test(rest),
      isMember: /(?:[.]|->|::)#?$/.test(content.slice(Math.max(0, at - 3), at)),
      isImport: IMPORT.test(content.slice(0, MAX_TEXT_LENGTH)),
    };
    if (described.isMember) return described;
    first ??= described;
  }
  return first;
}

const IMPORT =
  /^\s*(?:import|from|use|using|require|require_relative|#\s*include|export\s.*\sfrom|package)\b/;

/** The line without its indentation; of a long one the part with the name. */
function shortenAround(content: string, at: number): string {
  const indent = content.length - content.trimStart().length;
  const start = at - indent < MAX_TEXT_LENGTH - 40 ? indent : at - 40;
  const text = content.slice(start, start + MAX_TEXT_LENGTH).trimEnd();
  return `${start > indent ? '…' : ''}${text}${start + MAX_TEXT_LENGTH < content.trimEnd().length ? '…' : ''}`;
}

function isComment(content: string, language: Language): boolean {
  const text = content.trimStart();
  return WITH_HASH.has(language)
    ? text.startsWith('#') && language !== 'text'
    : /^(?:\/\/|\/\*|\*[\s/]|\*$)/.test(text);
}

/** A chunk starts outside of strings. */
function isInDocstring(text: string, at: number, language: Language): boolean {
  if (language !== 'python') return false;
  return ((text.slice(0, at).match(TRIPLE_QUOTE) ?? []).length & 1) === 1;
}

const TRIPLE_QUOTE = /"""|'''/g;

const WITH_HASH: ReadonlySet<Language> = new Set(['bash', 'python', 'ruby', 'text']);

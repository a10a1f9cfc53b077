import { shorten } from '@assay-mcp/kit/shorten';
import type { FoundSymbol } from '../chunks/find-symbols.ts';
import type { SourceLines } from '../chunks/source-lines.ts';
import type { Language } from '../source-chunk.ts';

const MAX_LINES = 20;
const MAX_LENGTH = 300;
/** The patterns take quadratic time. */
const MAX_LINE_LENGTH = 500;

interface DocComment {
  /** On one line, without comment signs, cut before its tags; empty if there is none. */
  readonly doc: string;
  /** Where the declaration starts, or what follows its docstring. */
  readonly codeRow: number;
}

/** The comment above a declaration, or the docstring in it. */
export function readDocComment(symbol: FoundSymbol, lines: SourceLines, language: Language): DocComment {
  const { firstRow, declaredRow, bodyRow, lastRow } = symbol;
  const docstring =
    language === 'python' && bodyRow !== null
      ? readDocstring(lines, { firstRow: bodyRow, lastRow })
      : undefined;
  if (docstring !== undefined) return docstring;
  const lastAbove = Math.min(declaredRow - 1, firstRow + MAX_LINES);
  const above = lastAbove < firstRow ? [] : lines.text(firstRow, lastAbove).split('\n');
  const comment = above
    .filter((line) => COMMENT.test(line))
    .map((line) => line.slice(0, MAX_LINE_LENGTH).replace(SIGNS, ''));
  return { doc: joinUntilTag(comment), codeRow: declaredRow };
}

const COMMENT = /^\s*(?:\/\/|\/\*|\*|#(?!\[|!\[|\s*(?:if|ifdef|ifndef|endif|else|define|pragma|include)\b))/;
const SIGNS = /^\s*(?:\/{2,}!?|\/\*+!?|\*+\/?|#+:?)\s?|\*+\/\s*$/g;

function readDocstring(
  lines: SourceLines,
  { firstRow, lastRow }: { readonly firstRow: number; readonly lastRow: number },
): DocComment | undefined {
  const text = lines.text(firstRow, Math.min(lastRow, firstRow + MAX_DOCSTRING_LINES));
  const [whole, long, short] = DOCSTRING.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const endRow = firstRow + whole.split('\n').length - 1;
  return { doc: joinUntilTag((long ?? short ?? '').split('\n')), codeRow: Math.min(endRow + 1, lastRow) };
}

const MAX_DOCSTRING_LINES = 200;
/** The end of a very long one is beyond the lines that are read. */
const DOCSTRING = /^\s*[rRuU]?(?:(?:"""|''')([\s\S]*?)(?:"""|'''|$)|"([^"\n]*)")/;

/** The lines before the first tag, such as `@param` or `Args:`, as one line. */
function joinUntilTag(all: readonly string[]): string {
  const lines = all.map((line) => line.slice(0, MAX_LINE_LENGTH));
  const tag = lines.findIndex((line, index) => index > 0 && TAG.test(line));
  const text = (tag < 0 ? lines : lines.slice(0, tag)).join(' ').replace(/\s+/g, ' ').trim();
  return shorten(text, MAX_LENGTH);
}

const TAG =
  /^\s*(?:[@\\]\w|:\w+.*:|(?:Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?):?\s*$|#+ )/;

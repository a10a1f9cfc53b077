import { findSymbols, type FoundSymbol, type SymbolLimits } from '../chunks/find-symbols.ts';
import type { ParsedLanguage } from '../chunks/languages.ts';
import { parse } from '../chunks/parsers.ts';
import { SourceLines } from '../chunks/source-lines.ts';
import type { Language } from '../source-chunk.ts';
import { readDocComment } from './doc-comment.ts';
import { OUTLINE_RULES } from './outline-rules.ts';

/** A symbol of a file. */
export interface OutlinedSymbol {
  /** A `ChunkKind`, or `impl`, which is a class in the index. */
  readonly kind: string;
  readonly name: string;
  /** The symbols around it from the outside in, joined by `.`; null at the top level. */
  readonly parent: string | null;
  /** The declaration up to its body, on one line and at most 300 characters. */
  readonly signature: string;
  /** One-based, inclusive, with its comments and decorators. */
  readonly start_line: number;
  readonly end_line: number;
  /** The line where the declaration itself starts, below its comments. */
  readonly declared_line: number;
  /** The same, or the first line of its body below a docstring. */
  readonly code_line: number;
  /** 0 at the top level. */
  readonly depth: number;
  /** Its doc comment without comment signs, on one line; empty if it has none. */
  readonly doc: string;
}

/** Members of every type are listed, and of functions only those that the index splits, too. */
const LIMITS: SymbolLimits = { maxLines: 0, maxCharacters: 8_000 };
/** Further symbols of a file are left out. */
export const MAX_SYMBOLS = 5_000;

/**
 * The symbols of a text in their order, each before its members. Undefined if its language is not parsed, or parsing
 * takes too much work.
 */
export async function outlineSource(
  text: string,
  language: Language,
): Promise<readonly OutlinedSymbol[] | undefined> {
  if (language === 'text') return undefined;
  const found = await findIn(text, language);
  if (found === undefined) return undefined;
  const lines = new SourceLines(text);
  const symbols: OutlinedSymbol[] = [];
  const add = (one: FoundSymbol, depth: number): void => {
    if (symbols.length >= MAX_SYMBOLS) return;
    if (one.name !== null) symbols.push(toOutlined(one, one.name, { lines, language, depth }));
    for (const member of one.members) add(member, one.name === null ? depth : depth + 1);
  };
  for (const one of found) add(one, 0);
  return symbols;
}

async function findIn(text: string, language: ParsedLanguage): Promise<readonly FoundSymbol[] | undefined> {
  const tree = await parse(language, text);
  if (tree === undefined) return undefined;
  try {
    return findSymbols(tree, OUTLINE_RULES[language], LIMITS);
  } finally {
    tree.delete();
  }
}

function toOutlined(
  symbol: FoundSymbol,
  name: string,
  { lines, language, depth }: { lines: SourceLines; language: Language; depth: number },
): OutlinedSymbol {
  const { kind, parent, firstRow, lastRow, declaredRow } = symbol;
  const signature = symbol.signature.replace(ANNOTATIONS, '');
  const { doc, codeRow } = readDocComment(symbol, lines, language);
  return {
    ...{ name, parent, signature, depth },
    kind: language === 'rust' && kind === 'class' ? 'impl' : kind,
    start_line: firstRow + 1,
    end_line: lastRow + 1,
    declared_line: declaredRow + 1,
    code_line: codeRow + 1,
    doc,
  };
}

/** `@Override`, which the text above the declaration has. */
const ANNOTATIONS = /^(?:@[\w.]+(?:\([^()]*\))?\s+)+/;

import type { Language, SourceChunk } from '../source-chunk.ts';
import { arrangeChunks } from './arrange-chunks.ts';
import { findSymbols, type FoundSymbol, type SymbolLimits } from './find-symbols.ts';
import type { ParsedLanguage } from './languages.ts';
import { parse } from './parsers.ts';
import { RULES } from './symbol-rules.ts';

/** Increased whenever the chunks of a text would change: the index is then rebuilt. */
export const CHUNKER_VERSION: number = 2;

export const LIMITS: SymbolLimits = { maxLines: 60, maxCharacters: 8_000 };

export interface Source {
  readonly text: string;
  readonly language: Language;
  /** If false, the file is cut by lines, whatever its language. */
  readonly mayParse?: boolean;
}

export interface ChunkedSource {
  readonly chunks: readonly SourceChunk[];
  /** False if the language has a grammar, but the file was cut by lines. */
  readonly isParsed: boolean;
}

/**
 * Cuts a file into chunks: by its symbols where the language is parsed, else by lines. Their contents, joined by line
 * breaks, are the text without its last line break. Blank text has no chunks.
 */
export async function chunkSource({ text, language, mayParse = true }: Source): Promise<ChunkedSource> {
  if (language === 'text') return { chunks: arrangeChunks(text, []), isParsed: true };
  const symbols = mayParse ? await symbolsOf(text, language) : undefined;
  return { chunks: arrangeChunks(text, symbols ?? []), isParsed: symbols !== undefined };
}

async function symbolsOf(
  text: string,
  language: ParsedLanguage,
): Promise<readonly FoundSymbol[] | undefined> {
  const tree = await parse(language, text);
  if (tree === undefined) return undefined;
  try {
    return findSymbols(tree, RULES[language], LIMITS);
  } finally {
    tree.delete();
  }
}

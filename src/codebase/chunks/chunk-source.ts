import type { Language, SourceChunk } from '../source-chunk.ts';
import { arrangeChunks } from './arrange-chunks.ts';
import { findSymbols, type FoundSymbol, type SymbolLimits } from './find-symbols.ts';
import { parse } from './parsers.ts';
import { RULES } from './symbol-rules.ts';

/** Raised whenever the chunks of a text change: the index is then built anew. */
export const CHUNKER_VERSION: number = 1;

export const LIMITS: SymbolLimits = { maxLines: 60, maxCharacters: 8_000 };

export interface Source {
  readonly text: string;
  readonly language: Language;
}

/**
 * Cuts a file into chunks, by its symbols where the language is parsed. Their contents, joined by line breaks, are the
 * text, but for its last line break. Blank text has no chunks.
 */
export async function chunkSource({ text, language }: Source): Promise<readonly SourceChunk[]> {
  return arrangeChunks(text, await symbolsOf({ text, language }));
}

/** The chunks of a file that cannot be parsed. */
export function chunkByLines(text: string): readonly SourceChunk[] {
  return arrangeChunks(text, []);
}

async function symbolsOf({ text, language }: Source): Promise<readonly FoundSymbol[]> {
  const rules = language === 'text' ? undefined : RULES[language];
  if (language === 'text' || rules === undefined) return [];
  const tree = await parse(language, text);
  if (tree === undefined) return [];
  try {
    return findSymbols(tree, rules, LIMITS);
  } finally {
    tree.delete();
  }
}

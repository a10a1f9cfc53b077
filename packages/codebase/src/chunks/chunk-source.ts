import { decodeText, hashContent, readBytes } from '../files/read-source.ts';
import { isTestPath } from '../files/test-path.ts';
import type { Language, SourceChunk } from '../source-chunk.ts';
import { toIndexTerms } from '../terms.ts';
import { arrangeChunks } from './arrange-chunks.ts';
import type { ChunkJob, FileOutcome } from './chunk-messages.ts';
import { findSymbols, type FoundSymbol, type SymbolLimits } from './find-symbols.ts';
import { type ParsedLanguage, detectLanguage } from './languages.ts';
import { parse } from './parsers.ts';
import { CPP, CSHARP, GO, JAVA, RUST } from './rules/compiled.ts';
import { ECMASCRIPT } from './rules/ecmascript.ts';
import type { Rules } from './rules/rule.ts';
import { BASH, PHP, PYTHON, RUBY } from './rules/scripting.ts';

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

/** The rules for the nodes of each grammar. */
const RULES: Readonly<Record<ParsedLanguage, Rules>> = {
  bash: BASH,
  c: CPP,
  cpp: CPP,
  csharp: CSHARP,
  go: GO,
  java: JAVA,
  javascript: ECMASCRIPT,
  php: PHP,
  python: PYTHON,
  ruby: RUBY,
  rust: RUST,
  tsx: ECMASCRIPT,
  typescript: ECMASCRIPT,
};

/** Reads a file, cuts it into chunks and computes their terms. */
export async function chunkFile(job: ChunkJob, maxFileBytes: number): Promise<FileOutcome> {
  const read = readBytes(job.absolutePath, maxFileBytes);
  if (!read.ok) return { outcome: 'skipped', reason: read.reason };
  const { bytes, size, mtimeMs } = read;
  const hash = hashContent(bytes);
  if (hash === job.knownHash) return { outcome: 'unchanged', hash, size, mtimeMs };
  const decoded = decodeText(bytes);
  if (decoded === undefined) return { outcome: 'skipped', reason: 'binary' };
  const { text } = decoded;
  const language = detectLanguage(job.path, text);
  if (language !== 'text' && isMinified(text)) return { outcome: 'skipped', reason: 'minified' };
  const { chunks, isParsed } = await chunkSource({ text, language, mayParse: job.mayParse });
  const terms = chunks.map((chunk) => toIndexTerms(chunk, job.path));
  const isTest = isTestPath(job.path);
  return { outcome: 'chunked', hash, size, mtimeMs, language, isTest, isParsed, chunks, terms };
}

const MIN_MINIFIED_LENGTH = 5_000;
/** Characters for each line, on average. People write 30 to 40. */
const MINIFIED_LINE_LENGTH = 500;

function isMinified(text: string): boolean {
  if (text.length < MIN_MINIFIED_LENGTH) return false;
  const maxLines = text.length / MINIFIED_LINE_LENGTH;
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0 && lines <= maxLines; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines <= maxLines;
}

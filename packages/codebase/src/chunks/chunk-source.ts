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
export const CHUNKER_VERSION: number = 4;

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
export const RULES: Readonly<Record<ParsedLanguage, Rules>> = {
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
  const read = readToChunk(job, maxFileBytes);
  if (read.outcome !== 'readable') return read;
  const { hash, size, mtimeMs, language, text } = read;
  const { chunks, isParsed } = await chunkSource({ text, language, mayParse: job.mayParse });
  const terms = chunks.map((chunk) => toIndexTerms(chunk, job.path));
  const isTest = isTestPath(job.path);
  return { outcome: 'chunked', hash, size, mtimeMs, language, isTest, isParsed, chunks, terms };
}

export type ReadToChunk =
  | Exclude<FileOutcome, { readonly outcome: 'chunked' }>
  | {
      readonly outcome: 'readable';
      readonly hash: string;
      readonly size: number;
      readonly mtimeMs: number;
      readonly language: Language;
      /** Without very long lines. */
      readonly text: string;
    };

/** Reads a file that may be indexed, unless its content is known or excludes it. */
export function readToChunk(
  { path, absolutePath, knownHash }: Pick<ChunkJob, 'path' | 'absolutePath' | 'knownHash'>,
  maxFileBytes: number,
): ReadToChunk {
  const read = readBytes(absolutePath, maxFileBytes);
  if (!read.ok) return { outcome: 'skipped', reason: read.reason };
  const { bytes, size, mtimeMs } = read;
  const hash = hashContent(bytes);
  if (hash === knownHash) return { outcome: 'unchanged', hash, size, mtimeMs };
  const decoded = decodeText(bytes);
  if (decoded === undefined) return { outcome: 'skipped', reason: 'binary' };
  const language = detectLanguage(path, decoded.text);
  const text = withoutLongLines(decoded.text);
  if (language !== 'text' && isMinified(text, decoded.text.length))
    return { outcome: 'skipped', reason: 'minified' };
  return { outcome: 'readable', hash, size, mtimeMs, language, text };
}

const MIN_MINIFIED_LENGTH = 5_000;
/** Characters for each line, on average. People write 30 to 40. */
const MINIFIED_LINE_LENGTH = 500;
/** A longer line is data, such as an embedded image, and is indexed as an empty one. */
const MAX_LINE_LENGTH = 5_000;
/** What remains of a file with long lines is code if it is longer than a heading. */
const MIN_REMAINING_LENGTH = 200;
/** Or if it has this many lines that are not comments. */
const MIN_CODE_LINES = 3;
const CODE_LINE = /^[ \t]*(?!\/[/*]|[*#])\S/gm;

function withoutLongLines(text: string): string {
  if (text.length <= MAX_LINE_LENGTH) return text;
  const lines = text.split('\n');
  return lines.some(({ length }) => length > MAX_LINE_LENGTH)
    ? lines.map((line) => (line.length > MAX_LINE_LENGTH ? '' : line)).join('\n')
    : text;
}

/** `text` is without long lines; `length` is that of the whole file. */
function isMinified(text: string, length: number): boolean {
  if (length < MIN_MINIFIED_LENGTH) return false;
  if (text.length < MIN_REMAINING_LENGTH && (text.match(CODE_LINE)?.length ?? 0) < MIN_CODE_LINES)
    return true;
  const maxLines = text.length / MINIFIED_LINE_LENGTH;
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0 && lines <= maxLines; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines <= maxLines;
}

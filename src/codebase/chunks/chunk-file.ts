import { decodeText, hashContent, readBytes } from '../files/read-source.ts';
import { isTestPath } from '../files/test-path.ts';
import { toIndexTerms } from '../terms.ts';
import type { ChunkJob, FileOutcome } from './chunk-messages.ts';
import { chunkSource } from './chunk-source.ts';
import { detectLanguage } from './languages.ts';

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

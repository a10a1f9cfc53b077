import type { SkipReason } from '../files/skip-reason.ts';
import type { Language, SourceChunk } from '../source-chunk.ts';
import type { IndexTerms } from '../terms.ts';
import type { ParserModules } from './compile-parsers.ts';

/** A file to be read and cut into chunks. */
export interface ChunkJob {
  readonly id: number;
  /** Relative to the repository. */
  readonly path: string;
  readonly absolutePath: string;
  /** SHA-256 of the indexed file. An unchanged file is not cut again. */
  readonly knownHash: string | undefined;
  /** False once parsing the file has crashed a thread. */
  readonly mayParse: boolean;
}

export type FileOutcome =
  | {
      readonly outcome: 'chunked';
      readonly hash: string;
      readonly size: number;
      readonly mtimeMs: number;
      readonly language: Language;
      readonly isTest: boolean;
      /** False if the file should have been parsed but was cut by lines: it took too much work, or broke the parser. */
      readonly isParsed: boolean;
      readonly chunks: readonly SourceChunk[];
      /** The terms of each chunk, in the order of the chunks. */
      readonly terms: readonly IndexTerms[];
    }
  | {
      readonly outcome: 'unchanged';
      readonly hash: string;
      readonly size: number;
      readonly mtimeMs: number;
    }
  | { readonly outcome: 'skipped'; readonly reason: SkipReason };

export interface ChunkAnswer {
  readonly id: number;
  readonly outcome: FileOutcome;
}

export interface WorkerGiven {
  readonly maxFileBytes: number;
  readonly modules: ParserModules;
  /** Its first element is the id of the job that the thread is working on, which tells what crashed it. */
  readonly current: Int32Array;
}

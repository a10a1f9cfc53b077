import type { MissingSymbol } from './missing-symbol.ts';

export interface Place {
  readonly file_path: string;
  /** Present if the index has several repositories. */
  readonly repository?: string | undefined;
  /** Present if the file differs from what was indexed. The lines of a definition are then those of the file now. */
  readonly state?: 'stale' | 'missing' | undefined;
}

export interface SymbolDefinition extends Place {
  /** One-based, inclusive, with its comments and decorators. */
  readonly start_line: number;
  readonly end_line: number;
  readonly kind: string;
  readonly symbol: string;
  readonly parent: string | null;
  /** On one line; absent if `code` begins with it. */
  readonly signature?: string | undefined;
  /** The doc comment, shortened. */
  readonly doc?: string | undefined;
  /** The first lines, of the first definition. */
  readonly code?: string;
  /** The number of the first line of `code`. */
  readonly code_start_line?: number;
}

export interface SymbolUses extends Place {
  /** Number of lines in this file. */
  readonly count: number;
  /** The most telling of them. */
  readonly lines: readonly SymbolUse[];
}

export interface SymbolUse {
  readonly line: number;
  readonly text: string;
  /** The function or class that the line is in. */
  readonly within?: string;
}

export interface SymbolAnswer {
  readonly symbol: string;
  readonly definitions: readonly SymbolDefinition[];
  readonly uses: readonly SymbolUses[];
  readonly tests: readonly SymbolUses[];
  readonly definition_count: number;
  readonly use_count: number;
  readonly use_file_count: number;
  readonly test_use_count: number;
  readonly test_file_count: number;
  /** Whether the counts are exact. */
  readonly is_complete: boolean;
  /** Whether something was left out to keep the answer small. */
  readonly truncated: boolean;
  readonly notes: readonly string[];
  readonly missing: MissingSymbol | null;
}

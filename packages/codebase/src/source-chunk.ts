/** The languages that are parsed; every other text file is cut into line windows and has the language `text`. */
export type Language =
  | 'bash'
  | 'c'
  | 'cpp'
  | 'csharp'
  | 'go'
  | 'java'
  | 'javascript'
  | 'php'
  | 'python'
  | 'ruby'
  | 'rust'
  | 'tsx'
  | 'typescript'
  | 'text';

/** `block`: code between symbols (imports, constants, statements), or a window of lines of a file that is not parsed. */
export type ChunkKind =
  | 'function'
  | 'method'
  | 'class'
  | 'interface'
  | 'struct'
  | 'trait'
  | 'enum'
  | 'type'
  | 'module'
  | 'constant'
  | 'block';

/**
 * A piece of a source file. The chunks of a file cover each of its lines at most once, in order, so the text around a
 * chunk is read from its neighbors.
 */
export interface SourceChunk {
  readonly kind: ChunkKind;
  /** The name of the symbol, such as `parseHeader`; null for a `block`. */
  readonly symbol: string | null;
  /** The symbols around it from the outside in, joined by `.`, such as `Parser` for a method; null at the top level. */
  readonly parent: string | null;
  /** The declaration up to its body, on one line and at most 300 characters; empty for a `block`. */
  readonly signature: string;
  /** One-based, inclusive. */
  readonly startLine: number;
  readonly endLine: number;
  /** The lines as in the file, without the last line break. */
  readonly content: string;
}

/** A JavaScript or TypeScript module whose exports are tools. */
export interface FunctionModuleSpec {
  /** Absolute path of its file. */
  readonly path: string;
  /** Whether the config file has it; otherwise an operator added it while Assay ran. */
  readonly isFromConfig?: true | undefined;
  /** All that its process has in its environment beside what every process needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths that it may read beside its own folder. */
  readonly reads: readonly string[];
  /** Absolute paths that it may write. */
  readonly writes: readonly string[];
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

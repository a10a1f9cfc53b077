import type { DeclaredHints } from '../hints/hint.ts';

/** How a request says who it comes from. */
export type RestAuth =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'header'; readonly name: string; readonly value: string }
  | { readonly kind: 'query'; readonly name: string; readonly value: string };

/** One HTTP request that an operator made a tool of, checked, defaults filled in. */
export interface RestToolSpec {
  readonly name: string;
  /** Who made it while Assay ran; absent: it stands in the config file. */
  readonly author?: string | undefined;
  /** Whether the config file has it; otherwise an operator made it while Assay ran. */
  readonly isFromConfig?: true | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** An absolute URL; `{argument}` in its path or query stands for the value of an argument. */
  readonly url: string;
  /** In capitals. */
  readonly method: string;
  /** Otherwise it is POST because nobody said anything, and nothing follows from it. */
  readonly isMethodGiven: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: RestAuth | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** What was said of the tool when it was made. */
  readonly annotations: DeclaredHints;
  /** Arguments that go into the query, and under which name. */
  readonly queryMapping: Readonly<Record<string, string>>;
  /** Arguments that go into a header, and into which one. */
  readonly headerMapping: Readonly<Record<string, string>>;
  /** The form of what is left for a body. */
  readonly bodyType: 'json' | 'form';
  /** A JMESPath expression that makes of the answer what the caller gets. */
  readonly filter?: string | undefined;
  readonly timeoutMs: number;
  /** Most bytes of an answer that the caller gets. */
  readonly maxBytes: number;
}

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

import type { DeclaredHints } from '@assay-mcp/kit/hint';
import type { OutputValidation } from './output-validation.ts';

/** How a request authenticates. */
export type RestAuth =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'header'; readonly name: string; readonly value: string }
  | { readonly kind: 'query'; readonly name: string; readonly value: string };

/** An HTTP request that an operator exposes as a tool; validated, with defaults. */
export interface RestToolSpec {
  readonly name: string;
  /** The operator who added it at runtime. Absent if it is from the config file. */
  readonly author?: string | undefined;
  /** Whether it is from the config file; otherwise an operator added it at runtime. */
  readonly isFromConfig?: true | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** An absolute URL; `{argument}` in its path or query is replaced by the value of an argument. */
  readonly url: string;
  /** In upper case. */
  readonly method: string;
  /** Otherwise the method is the default POST, from which no hints are inferred. */
  readonly isMethodGiven: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: RestAuth | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly outputValidation: OutputValidation;
  /** The hints declared when the tool was created. */
  readonly annotations: DeclaredHints;
  /** Arguments sent in the query: query parameter by argument. */
  readonly queryMapping: Readonly<Record<string, string>>;
  /** Arguments sent in headers: header by argument. */
  readonly headerMapping: Readonly<Record<string, string>>;
  /** The format of the body, which holds the remaining arguments. */
  readonly bodyType: 'json' | 'form';
  /** A JMESPath expression that is applied to the response. */
  readonly filter?: string | undefined;
  readonly timeoutMs: number;
  /** Maximum number of response bytes returned to the caller. */
  readonly maxBytes: number;
}

/** A JavaScript or TypeScript module whose exports are tools. */
export interface FunctionModuleSpec {
  /** Absolute path of its file. */
  readonly path: string;
  /** Whether it is from the config file; otherwise an operator added it at runtime. */
  readonly isFromConfig?: true | undefined;
  /** Environment variables for its process, besides those that every process needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths that it may read besides its own folder. */
  readonly reads: readonly string[];
  /** Absolute paths that it may write. */
  readonly writes: readonly string[];
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

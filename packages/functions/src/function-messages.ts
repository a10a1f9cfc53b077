/** A message to the process of a function module: one line of JSON. */
export type ToRunner =
  | LoadMessage
  | { readonly kind: 'call'; readonly id: number; readonly tool: string; readonly args: string }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: AskAnswer }
  | { readonly kind: 'ping'; readonly id: number };

/** The first message. */
export interface LoadMessage {
  readonly kind: 'load';
  /** Prefix of each line from the runner; all other output is the module's own. */
  readonly mark: string;
  /** Real path of the module. */
  readonly path: string;
  /** Real path of a zod package.json, for a module that has no zod of its own. */
  readonly zod: string | undefined;
}

export type AskAnswer =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: string };

/** A message from the process: one line of JSON after the mark. */
export type FromRunner =
  /** The module read this file; it is reloaded when the file changes. */
  | { readonly kind: 'file'; readonly path: string }
  | Manifest
  | { readonly kind: 'broken'; readonly fault: string }
  /** The tool is about to run. */
  | { readonly kind: 'begun'; readonly id: number }
  | { readonly kind: 'done'; readonly id: number; readonly result: FunctionResult }
  | {
      readonly kind: 'progress';
      readonly id: number;
      readonly progress: number;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | { readonly kind: 'log'; readonly id: number; readonly level: string; readonly data: unknown }
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly call: number;
      readonly message: string;
      readonly schema: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'pong'; readonly id: number }
  /** The module's own code is ending the process. */
  | { readonly kind: 'exit'; readonly code: string; readonly at: string | undefined }
  /** An uncaught error or unhandled rejection. */
  | { readonly kind: 'stray'; readonly fault: string };

export interface Manifest {
  readonly kind: 'ready';
  readonly tools: readonly FunctionFacts[];
  readonly skipped: readonly { readonly what: string; readonly why: string }[];
}

/** A tool that Assay makes, as in `tools/list`: `inputSchema` is a JSON Schema (2020-12 by default) of an object. */
export interface BuiltInDefinition {
  /** Unique in its source. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Only what its author declared. */
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** A module's description of one of its tools. */
export interface FunctionFacts extends BuiltInDefinition {
  readonly timeoutMs?: number | undefined;
}

export interface FunctionResult {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: Readonly<Record<string, unknown>> | undefined;
  readonly isError?: boolean | undefined;
}

/** Whether a value read from JSON has the shape of a result. */
export function isFunctionResult(value: unknown): value is FunctionResult {
  if (!isRecord(value)) return false;
  const { content, structuredContent, isError, _meta } = value;
  return (
    Array.isArray(content) &&
    content.every((part) => isRecord(part) && typeof part['type'] === 'string') &&
    (structuredContent === undefined || isRecord(structuredContent)) &&
    (_meta === undefined || isRecord(_meta)) &&
    (isError === undefined || typeof isError === 'boolean')
  );
}

/**
 * Whether a value is an object and not an array. A module may return a revoked proxy, for which even this check throws.
 */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Maximum number of open server requests per call. */
export const OPEN_ASKS: number = 8;

/** Maximum number of progress notifications, and of log messages, per call and second. */
export const NOTES_PER_SECOND: number = 20;

/** Maximum size in bytes of the JSON text of a result. */
export const RESULT_LIMIT_BYTES: number = 4 * 1024 * 1024;

/** Rounded up to a tenth, so that a size above a limit is also shown above it. */
export function toMebibytes(bytes: number): number {
  return Math.ceil((bytes / 1024 / 1024) * 10) / 10;
}

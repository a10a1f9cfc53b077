/** What the process of a function module is told: one JSON text on a line. */
export type ToRunner =
  | LoadMessage
  | { readonly kind: 'call'; readonly id: number; readonly tool: string; readonly args: string }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: AskAnswer }
  | { readonly kind: 'ping'; readonly id: number };

/** The first thing that it is told. */
export interface LoadMessage {
  readonly kind: 'load';
  /** What begins each line that is the runner's: whatever else comes is the module's own. */
  readonly mark: string;
  /** Real path of the module. */
  readonly path: string;
  /** Real path of a package.json of zod, for a module that finds none itself. */
  readonly zod: string | undefined;
}

export type AskAnswer =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: string };

/** What it tells: one JSON text on a line, behind the mark. */
export type FromRunner =
  /** A file of the module was read, which it will be again when that file changes. */
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
  /** The module's own code ends the process. */
  | { readonly kind: 'exit'; readonly code: string; readonly at: string | undefined }
  /** Something was thrown where nobody waits for it. */
  | { readonly kind: 'stray'; readonly fault: string };

export interface Manifest {
  readonly kind: 'ready';
  readonly tools: readonly FunctionFacts[];
  readonly skipped: readonly { readonly what: string; readonly why: string }[];
}

/** What a module says of one of its tools. */
export interface FunctionFacts {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
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

/** An object that is no list. A module may give a revoked proxy, which throws where it is asked even that. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Most questions of one call that are open at once. */
export const OPEN_ASKS: number = 8;

/** Most notes of a kind that one call sends in a second, progress and log. */
export const NOTES_PER_SECOND: number = 20;

/** Most bytes of the JSON text of one result. */
export const RESULT_LIMIT_BYTES: number = 4 * 1024 * 1024;

/** Rounded up by a tenth, so that what is above a limit is shown above it. */
export function mebibytes(bytes: number): number {
  return Math.ceil((bytes / 1024 / 1024) * 10) / 10;
}

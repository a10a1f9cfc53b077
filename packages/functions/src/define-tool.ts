/**
 * Makes a tool from a function. Export it from a module that Assay serves: under any name, or as the default export,
 * alone or in an array or object.
 */
export function defineTool<Input extends InputSchema = JsonSchema>(options: ToolOptions<Input>): Tool {
  const tool = { ...options } as unknown as Tool; // The runner parses the arguments before it calls `run`.
  Object.defineProperty(tool, TOOL_MARK, { value: true });
  return Object.freeze(tool);
}

interface ToolOptions<Input extends InputSchema> {
  /** At most 128 letters, digits, `_`, `-` and `.`. */
  readonly name: string;
  readonly title?: string;
  /** Tells the model when to use the tool. */
  readonly description?: string;
  /** A zod 4 schema, or a JSON Schema of an object. Without it, the tool takes no arguments. */
  readonly input?: Input;
  /** The shape of `structuredContent`: a zod 4 schema, or a JSON Schema of an object. */
  readonly output?: InputSchema;
  /** Hints on the effects of the tool. Omit those that you do not know. */
  readonly annotations?: ToolAnnotations;
  /** Maximum time in ms without a result or progress. */
  readonly timeoutMs?: number;
  /**
   * A returned string becomes text; an object becomes JSON text and `structuredContent`; `{ content: […] }` is passed
   * on unchanged. An error becomes a result with `isError` that names your line.
   */
  run(args: ArgumentsOf<Input>, context: ToolContext): unknown;
}

/** The result of `defineTool`. */
interface Tool extends Omit<ToolOptions<JsonSchema>, 'input' | 'run'> {
  readonly input?: InputSchema;
  run(args: unknown, context: ToolContext): unknown;
}

interface ToolAnnotations {
  readonly title?: string;
  /** The tool changes nothing. */
  readonly readOnlyHint?: boolean;
  /** The tool may delete or overwrite something. */
  readonly destructiveHint?: boolean;
  /** A repeated call with the same arguments has no further effect. */
  readonly idempotentHint?: boolean;
  /** The tool accesses external systems, such as the web. */
  readonly openWorldHint?: boolean;
}

export interface ToolContext {
  /** Aborted when the call is cancelled. If the tool then keeps running and blocks others, its process is ended. */
  readonly signal: AbortSignal;
  /** Reports progress to the client and restarts the time limit, up to 30 times the limit in total. */
  progress(progress: number, total?: number, message?: string): void;
  /** Asks the user with a form. Rejects if the client does not support that. */
  ask(question: Question): Promise<Answer>;
  /** `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`. */
  log(level: string, data: unknown): void;
}

export interface Question {
  readonly message: string;
  /** A zod 4 schema, or a JSON Schema of an object. Its members are strings, numbers, booleans or enums. */
  readonly schema: InputSchema;
}

export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** See https://standardschema.dev. zod 4 implements it. */
interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

type InputSchema = StandardSchema | JsonSchema;

type ArgumentsOf<Input> = Input extends StandardSchema
  ? NonNullable<Input['~standard']['types']>['output']
  : Readonly<Record<string, unknown>>;

/** Marks tools made by `defineTool`. Registered globally, since a module may bring its own copy of this package. */
export const TOOL_MARK: symbol = Symbol.for('assay-mcp.tool');

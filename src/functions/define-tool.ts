/**
 * Makes a tool of a function. Export it from a module that Assay serves: as the default export, alone, in an array or
 * in an object, or by any name.
 */
export function defineTool<Input extends InputSchema = JsonSchema>(options: ToolOptions<Input>): Tool {
  const tool = { ...options } as unknown as Tool; // the record is the tool, of arguments that the runner has parsed
  Object.defineProperty(tool, TOOL_MARK, { value: true });
  return Object.freeze(tool);
}

interface ToolOptions<Input extends InputSchema> {
  /** Letters, digits, `_`, `-` and `.`, 128 at most. */
  readonly name: string;
  readonly title?: string;
  /** What the model reads to know when to use it. */
  readonly description?: string;
  /** A schema of zod 4, or a JSON Schema of an object. Absent: the tool takes no arguments. */
  readonly input?: Input;
  /** What `structuredContent` looks like: a schema of zod 4, or a JSON Schema of an object. */
  readonly output?: InputSchema;
  /** What the tool does to the world; leave out what you do not know. */
  readonly annotations?: ToolAnnotations;
  /** Longest time in ms without a result or progress. */
  readonly timeoutMs?: number;
  /**
   * A string becomes text; an object JSON text and `structuredContent`; a `{ content: […] }` passes as it is; what is
   * thrown becomes a result with `isError` that names your line.
   */
  run(args: ArgumentsOf<Input>, context: ToolContext): unknown;
}

/** What defineTool made. */
interface Tool extends Omit<ToolOptions<JsonSchema>, 'input' | 'run'> {
  readonly input?: InputSchema;
  run(args: unknown, context: ToolContext): unknown;
}

interface ToolAnnotations {
  readonly title?: string;
  /** It changes nothing. */
  readonly readOnlyHint?: boolean;
  /** It may destroy or overwrite something. */
  readonly destructiveHint?: boolean;
  /** Twice with the same arguments does no more than once. */
  readonly idempotentHint?: boolean;
  /** It reaches things outside, such as the web. */
  readonly openWorldHint?: boolean;
}

export interface ToolContext {
  /** Aborted when nobody waits any more. A tool that does not end then, and blocks others, is ended with its process. */
  readonly signal: AbortSignal;
  /** Tells the client how far it is, and starts the time limit anew, until 30 of them are over. */
  progress(progress: number, total?: number, message?: string): void;
  /** Asks the user, by a form. Rejects where the client cannot do that. */
  ask(question: Question): Promise<Answer>;
  /** `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`. */
  log(level: string, data: unknown): void;
}

export interface Question {
  readonly message: string;
  /** A schema of zod 4, or a JSON Schema of an object, whose members are strings, numbers, booleans or enumerations. */
  readonly schema: InputSchema;
}

export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** As https://standardschema.dev has it; zod 4 is one of those that follow it. */
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

/** What defineTool leaves on its tools. One symbol for all copies of this package, as a module may bring its own. */
export const TOOL_MARK: symbol = Symbol.for('assay-mcp.tool');

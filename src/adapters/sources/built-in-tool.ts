import type { Cause } from '../../core/cause.ts';
import type { ToolFacts } from '../../core/hints/tool-facts.ts';
import type { Result } from '../../core/result.ts';
import type { Skipped } from '../../gateway/ports/link.ts';

/** A tool that Assay makes of something that is no MCP server. */
export interface BuiltInTool {
  /** As `tools/list` has it. */
  readonly definition: BuiltInDefinition;
  readonly facts: ToolFacts;
  /** Longest time in ms without a result or progress; absent: that of its source. */
  readonly timeoutMs?: number | undefined;
  /**
   * Arguments that fit `inputSchema`. What goes wrong is a result with `isError`, for the model to read; rejects only where
   * the program is at fault, or when the signal says that nobody waits any more.
   */
  run(args: BuiltInArguments, call: BuiltInCall): Promise<BuiltInResult>;
}

/** `name` is unique in its source; `inputSchema` is a JSON Schema (2020-12 where it does not say otherwise) of an object. */
export interface BuiltInDefinition {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Only what its maker said. */
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export interface BuiltInArguments {
  readonly values: Readonly<Record<string, unknown>>;
  /** JSON text, with numbers as the client wrote them. */
  readonly text: string;
}

export interface BuiltInCall {
  readonly signal: AbortSignal;
  /** Tells the client how far it is, and starts the time limit anew. */
  progress(progress: number, total?: number, message?: string): void;
  /** Tells the client, where it wants to hear of this level (2025-11-25, server/utilities/logging). */
  log(level: string, data: unknown): void;
  /** Asks the client something (`elicitation/create`, `sampling/createMessage`, `roots/list`). The error is a sentence. */
  ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
  ): Promise<Result<Readonly<Record<string, unknown>>, string>>;
}

/** As `tools/call` has it. */
export interface BuiltInResult {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: Readonly<Record<string, unknown>> | undefined;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

export interface BuiltInTools {
  readonly tools: readonly BuiltInTool[];
  readonly skipped: readonly Skipped[];
}

/** Where tools are made. */
export interface BuiltInSource {
  /** What tools there are now. The error: why nobody can tell. */
  read(signal: AbortSignal): Promise<Result<BuiltInTools, Cause>>;
  /** Told when another `read` would bring other tools. The returned function ends it. */
  onChange(listener: () => void): () => void;
  /** Bytes that were sent to what runs its tools, and that it has not taken. Absent: nothing is kept for it. */
  readonly untakenBytes?: number;
  /** Told when `untakenBytes` has become less. The returned function ends it. */
  onDrain?(listener: () => void): () => void;
  close(): Promise<void>;
}

/** A result of one text. */
export function resultOfText(text: string): BuiltInResult {
  return { content: [{ type: 'text', text }] };
}

/** One that tells a model what went wrong. */
export function refused(text: string): BuiltInResult {
  return { ...resultOfText(text), isError: true };
}

const TEXTS = new WeakMap<Pick<BuiltInTool, 'definition'>, string>();

/** JSON text of a definition, with a title in both places where clients look for one; made once. What its maker wrote stays; where that is
 * nothing, its name becomes a title. */
export function definitionText(tool: BuiltInTool | Pick<BuiltInTool, 'definition'>): string {
  const known = TEXTS.get(tool);
  if (known !== undefined) return known;
  const { name, description, annotations, title: given, ...rest } = tool.definition;
  const own = annotations?.['title'];
  const title = given ?? (isTitle(own) ? own : titleOf(name));
  const text = JSON.stringify({
    name,
    title,
    ...(description !== undefined && { description }),
    ...rest,
    annotations: { ...annotations, title: isTitle(own) ? own : title },
  });
  TEXTS.set(tool, text);
  return text;
}

function isTitle(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** `get-userById`: Get user by id. */
function titleOf(name: string): string {
  const words = name
    .replace(/(?<=[a-z0-9])[A-Z](?=[a-z])/g, (start) => ` ${start.toLowerCase()}`)
    .replace(/[._/-]+/g, ' ')
    .trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

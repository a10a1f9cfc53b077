import { capitalize } from '@assay-mcp/kit/capitalize';
import type { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Cause } from '../../core/cause.ts';
import type { ToolFacts } from '../../core/hints/tool-facts.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { BuiltInDefinition } from '@assay-mcp/functions/function-messages';
import type { Skipped } from '../../gateway/ports/link.ts';

/** A tool that Assay makes from something other than an MCP server. */
export interface BuiltInTool {
  /** As in `tools/list`. */
  readonly definition: BuiltInDefinition;
  readonly facts: ToolFacts;
  /** Time limit in ms without a result or progress; default: that of its source. */
  readonly timeoutMs?: number | undefined;
  /**
   * Takes arguments that match `inputSchema`. Failures are results with `isError`, for the model to read; rejects only
   * on a bug or with Cancelled.
   */
  run(args: BuiltInArguments, call: BuiltInCall): Promise<BuiltInResult>;
  /** How a delivered result first differed from the output schema, as a phrase. Undefined: none did. */
  readonly difference?: (() => string | undefined) | undefined;
}

export interface BuiltInArguments {
  readonly values: Readonly<Record<string, unknown>>;
  /** JSON text, with numbers as the client wrote them. */
  readonly text: string;
}

export interface BuiltInCall {
  /** Also cancelled at the time limit. */
  readonly cancellation: Cancellation;
  /** Whether the tool is read-only by its effective hints. */
  readonly isReadOnly?: boolean;
  /** Reports progress to the client and restarts the time limit. */
  progress(progress: number, total?: number, message?: string): void;
  /** Logs to the client if it wants this level (2025-11-25, server/utilities/logging). */
  log(level: string, data: unknown): void;
  /** Sends a server request (`elicitation/create`, `sampling/createMessage`, `roots/list`). The error is a sentence. */
  ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
  ): Promise<Result<Readonly<Record<string, unknown>>, string>>;
}

/** As in `tools/call`. */
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

/** A source of built-in tools. */
export interface BuiltInSource {
  /** Reads the current tools. */
  read(signal: AbortSignal): Promise<Result<BuiltInTools, Cause>>;
  /** Notifies when another `read` would give other tools. The returned function unsubscribes. */
  onChange(listener: () => void): () => void;
  /** Bytes sent to the processes that run its tools and not read yet. Absent if nothing is buffered. */
  readonly unreadBytes?: number;
  /** Notifies when `unreadBytes` has decreased. The returned function unsubscribes. */
  onDrain?(listener: () => void): () => void;
  close(): Promise<void>;
}

/** A result with one text. */
export function toTextResult(text: string): BuiltInResult {
  return { content: [{ type: 'text', text }] };
}

/** An error result that tells the model what went wrong. */
export function toErrorResult(text: string): BuiltInResult {
  return { ...toTextResult(text), isError: true };
}

const TEXTS = new WeakMap<Pick<BuiltInTool, 'definition'>, string>();

/**
 * JSON text of a definition, with a title in both places where clients look for one. The author's title is kept;
 * otherwise one is made from the name. Cached.
 */
export function serializeDefinition(tool: BuiltInTool | Pick<BuiltInTool, 'definition'>): string {
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
  return words === '' ? name : capitalize(words);
}

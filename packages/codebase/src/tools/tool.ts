import type { CallToolResult, McpServer, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Hints } from '@assay-mcp/kit/hint';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { readDigitString } from '@assay-mcp/kit/digit-string';
import { findMeant } from '@assay-mcp/kit/nearest';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { type Fault, formatFault } from '../fault.ts';
import type { Counters } from '../counters.ts';
import { ProgressReporter, type ReportProgress } from './progress-reporter.ts';

/** All four hints, and the title that clients show to people. */
export type Annotations = Hints & { readonly title: string };

/** One of the server's tools, which checks its own arguments. */
export interface CodebaseTool {
  readonly name: string;
  readonly description: string;
  readonly annotations: Annotations;
  readonly input: z.ZodType;
  /** Schema of `structured`. */
  readonly output: z.ZodType;
  readonly run: (args: unknown, call: ToolCall) => Promise<Result<Answer, Fault>>;
}

/** The definition of a tool. `run` gets arguments that its schema has accepted. */
export interface ToolSpec<Input> extends Omit<CodebaseTool, 'input' | 'run'> {
  readonly input: z.ZodType<Input>;
  readonly run: (input: Input, call: ToolCall) => Promise<Result<Answer, Fault>>;
}

export interface ToolCall {
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  readonly report: ReportProgress;
}

export interface Answer {
  readonly structured: Readonly<Record<string, unknown>>;
  /** The same as text for models, shorter. */
  readonly text: string;
  /** The work was done, but it failed. */
  readonly isError?: boolean;
}

export function createCodebaseTool<Input>(spec: ToolSpec<Input>): CodebaseTool {
  return {
    ...spec,
    run: async (args, call) => {
      const input = parsedInput(spec.input, args);
      return input.ok ? spec.run(input.value, call) : input;
    },
  };
}

/** Calls a tool. An unexpected exception becomes an error result. */
export async function callTool(
  { run }: CodebaseTool,
  args: unknown,
  call: ToolCall,
): Promise<Result<Answer, Fault>> {
  try {
    return await run(args, call);
  } catch (error) {
    // A bug; its message may quote a path, never a secret.
    const reason = error instanceof Error ? error.message : String(error);
    return err({
      code: 'OPERATION_ERROR',
      message: `The call failed unexpectedly: ${reason}.`,
      remedy: 'Try again. If it fails again, report it with this message.',
    });
  }
}

/** The key of a fault's members in a result. A v1 client rejects `structuredContent` that does not match the schema. */
export const FAULT_KEY = 'assay.codebase/error';

export function registerTool(server: McpServer, given: CodebaseTool, counters: Counters): void {
  const { name, description, annotations, input, output } = given;
  const { title } = annotations;
  const config = { title, description, annotations, inputSchema: unvalidated(input), outputSchema: output };
  server.registerTool(name, config, async (args, { mcpReq }) => {
    const startedMs = performance.now();
    const reporter = new ProgressReporter(mcpReq._meta?.progressToken, mcpReq.notify);
    const outcome = await callTool(given, args, { signal: mcpReq.signal, report: reporter.report });
    reporter.stop();
    const code = outcome.ok ? (outcome.value.isError === true ? 'FAILED' : 'OK') : outcome.error.code;
    counters.called(name, code, performance.now() - startedMs);
    return outcome.ok ? resultOf(outcome.value) : faultResult(outcome.error);
  });
}

function resultOf({ structured, text, isError }: Answer): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: { ...structured },
    ...(isError === true && { isError }),
  };
}

function faultResult(fault: Fault): CallToolResult {
  return {
    content: [{ type: 'text', text: formatFault(fault) }],
    isError: true,
    _meta: { [FAULT_KEY]: fault },
  };
}

/**
 * The schema as clients see it, without the SDK's validation: its errors have no code and no field, so arguments are
 * checked by `parsedInput`.
 */
function unvalidated(schema: z.ZodType): StandardSchemaWithJSON {
  const standard = (schema as unknown as StandardSchemaWithJSON)['~standard'];
  return { '~standard': { ...standard, validate: (value) => ({ value }) } };
}

/** VALIDATION_ERROR with the first argument that is at fault. */
function parsedInput<Input>(schema: z.ZodType<Input>, args: unknown): Result<Input, Fault> {
  const given = withoutNulls(args ?? {});
  const first = schema.safeParse(given);
  const parsed = first.success ? first : schema.safeParse(withIntegers(given, first.error.issues));
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  const fault = (at: string, message: string, remedy: string): Result<Input, Fault> =>
    err({ code: 'VALIDATION_ERROR', ...(at !== '' && { field: at }), message, remedy });
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const meant = findMeant(key, schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
    const remedy = meant === undefined ? 'Leave it out.' : `Did you mean ${JSON.stringify(meant)}?`;
    return fault(key, 'There is no such argument.', remedy);
  }
  if (field !== '' && isJsonObject(given) && given[field] === undefined)
    return fault(field, 'It is missing.', 'Pass it.');
  return fault(field, `${issue?.message ?? 'The arguments are invalid'}.`, 'Correct it and call again.');
}

/** Some models write an integer as a string of digits. */
function withIntegers(args: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  if (!isJsonObject(args)) return args;
  const read = { ...args };
  for (const { code, path } of issues) {
    const [key] = path;
    const integer =
      code === 'invalid_type' && path.length === 1 && typeof key === 'string' && Object.hasOwn(args, key)
        ? readDigitString(args[key])
        : undefined;
    if (integer !== undefined) read[String(key)] = integer;
  }
  return read;
}

/** Some clients write null for an argument that they leave out. */
function withoutNulls(args: unknown): unknown {
  return isJsonObject(args)
    ? Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
    : args;
}

import type { Hints } from '@assay-mcp/kit/hint';
import { pickCauseCode } from '../../../core/refusal-cause.ts';
import { formatRefusal } from '../../../core/sentences.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { LARGE_MESSAGE, isParsable, TOO_LARGE_TO_PARSE } from '@assay-mcp/protocol/message';
import { serializeResult } from '@assay-mcp/protocol/reply';
import { findMember, isNull, readRawValue } from '@assay-mcp/protocol/spans';
import type { ConfigurationToolCall, ConfigurationTool } from '../../catalog/visible-listing.ts';
import type { Definition } from '../../ports/link.ts';
import type { CompileSchema, SchemaFault } from '../../ports/compile-schema.ts';
import type { ConfigurationContext } from './context.ts';
import { readOwnArguments } from './own-arguments.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

/**
 * The answer of a configuration tool: text that a model can act on, and the same as data that matches the output
 * schema.
 */
export interface OwnToolResult {
  readonly text: string;
  /** Required if the tool has an output schema. */
  readonly structured?: JsonObject | undefined;
}

export interface OwnToolSpec {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** All four are accurate: a test checks each of them against the tool's behaviour. */
  readonly annotations: Hints;
  readonly inputSchema: JsonObject;
  /** The schema that arguments are checked against, if it accepts more than the published one. */
  readonly accepts?: JsonObject;
  /** Properties of a successful result, all required except those in `optional`. Undefined: only text. */
  readonly output?: { readonly properties: JsonObject; readonly optional?: readonly string[] };
  /** Why it cannot be called now. */
  readonly refusal?: () => Refusal | undefined;
  readonly run: (args: JsonObject, subject: string) => Promise<Result<OwnToolResult, Refusal>>;
}

export const NO_INPUT: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

/**
 * A tool that answers once the stored toolsets are loaded. A refusal becomes a result with `isError`, so that a model
 * reads the reason; its data matches the output schema, too.
 */
export function createOwnTool(
  spec: OwnToolSpec,
  {
    equipping,
    compile,
  }: Pick<ConfigurationContext, 'compile'> & Partial<Pick<ConfigurationContext, 'equipping'>>,
): ConfigurationTool {
  let check: ReturnType<CompileSchema> | undefined;
  const run = async ({
    message,
    subject,
  }: ConfigurationToolCall): Promise<Result<OwnToolResult, Refusal>> => {
    const ready = await equipping?.ready();
    if (ready?.ok === false) return ready;
    const refusal = spec.refusal?.();
    if (refusal !== undefined) return err(refusal);
    const member = findMember(message.params, 'arguments');
    if (!isParsable(message))
      return err({ code: 'PARAMS_INVALID', field: 'arguments', reason: `they are ${TOO_LARGE_TO_PARSE}` });
    if (member !== undefined && member.end - member.start > LARGE_MESSAGE)
      return err({
        code: 'PARAMS_INVALID',
        field: 'arguments',
        reason: `they are larger than ${LARGE_MESSAGE} bytes`,
      });
    const isAbsent = member === undefined || isNull(message.bytes, member);
    const given = isAbsent ? ok({}) : parse(readRawValue(message.bytes, member));
    if (!given.ok) return given;
    const schema = spec.accepts ?? spec.inputSchema;
    const args = readOwnArguments(given.value, schema);
    if (!args.ok) return err(toRefusal(args.error));
    check ??= compile(schema);
    const fault = check(args.value);
    if (fault !== undefined) return err(toRefusal(fault));
    const done = await spec.run(args.value as JsonObject, subject); // every input schema requires an object
    if (done.ok || done.error.code !== 'ARGUMENTS_INVALID' || done.error.field === undefined) return done;
    const { field, reason } = done.error;
    return err({ code: 'PARAMS_INVALID', field: `arguments.${field}`, reason });
  };
  return {
    key: spec.name,
    name: spec.name,
    definition: definitionOf(spec),
    call: async (asked) => resultOf(await run(asked), spec, asked),
  };
}

function resultOf(
  outcome: Result<OwnToolResult, Refusal>,
  { output }: OwnToolSpec,
  { era }: ConfigurationToolCall,
): Buffer {
  const result = outcome.ok
    ? { content: [{ type: 'text', text: outcome.value.text }], structuredContent: outcome.value.structured }
    : {
        content: [{ type: 'text', text: formatRefusal(outcome.error) }],
        ...(output !== undefined && { structuredContent: errorOf(outcome.error) }),
        isError: true,
      };
  return serializeResult('tools/call', era, result);
}

function errorOf(refusal: Refusal): JsonObject {
  return { error: { code: refusal.code, ...pickCauseCode(refusal), message: formatRefusal(refusal) } };
}

function toRefusal({ path, reason }: SchemaFault): Refusal {
  return { code: 'PARAMS_INVALID', field: ['arguments', ...path].join('.'), reason };
}

function parse(text: string): Result<unknown, Refusal> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch {
    return err({ code: 'PARAMS_INVALID', field: 'arguments', reason: 'it is not JSON' });
  }
}

const ERROR: JsonObject = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' } },
  required: ['code', 'message'],
};

function outputSchemaOf({ properties, optional }: NonNullable<OwnToolSpec['output']>): JsonObject {
  const required = Object.keys(properties).filter((key) => optional?.includes(key) !== true);
  return {
    type: 'object',
    properties: { ...properties, error: ERROR },
    anyOf: [{ required }, { required: ['error'] }],
  };
}

function definitionOf(spec: OwnToolSpec): Definition {
  const { name, title, description, annotations, inputSchema, output } = spec;
  const text = JSON.stringify({
    name,
    title,
    description,
    inputSchema,
    ...(output !== undefined && { outputSchema: outputSchemaOf(output) }),
    annotations: { title, ...annotations },
  });
  const whole = { kind: 'whole' } as const;
  return { key: name, bytes: Buffer.from(text), fitness: { legacy: whole, modern: whole } };
}

import { isSafeMethod } from '@assay-mcp/kit/infer-hints';
import { parseExactJson } from '@assay-mcp/kit/canonical-json';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { truncateText } from '@assay-mcp/kit/shorten';
import type { OutputValidation } from '../../core/sources/output-validation.ts';
import type { CompileSchema, SchemaFault } from '../../gateway/ports/compile-schema.ts';
import type { BuiltInResult } from './built-in-tool.ts';
import { nestsTooDeeply } from './http/filter.ts';
import { toListedOutputSchema } from './listed-output-schema.ts';
import { tryCompileSchema } from './schema-check.ts';

/** Whether a result is to be structured: `required` makes an answer that cannot be structured an error. */
export type Structure = 'none' | 'optional' | 'required';

/** Compares the results of one tool with its output schema. */
export interface OutputCheck {
  /** As in `tools/list`. Undefined: no schema is listed. */
  readonly listed: JsonObject | undefined;
  readonly structure: Structure;
  /** The result to deliver. */
  check(result: BuiltInResult): BuiltInResult;
  /** Where a delivered answer first differed from the schema, as a phrase without values. Undefined: it never did. */
  readonly difference: () => string | undefined;
}

export interface OutputCheckOptions {
  readonly schema: JsonObject | undefined;
  readonly validation: OutputValidation;
  /** The HTTP method of the request. */
  readonly method: string;
}

export function openOutputCheck({ schema, validation, method }: OutputCheckOptions): OutputCheck {
  const listed = schema && toListedOutputSchema(schema, validation);
  if (schema === undefined || listed === undefined) return UNCHECKED;
  let compiled: ReturnType<typeof tryCompileSchema> | undefined;
  const findFault = (value: unknown): SchemaFault | undefined => {
    if (value === undefined) return { path: [], reason: 'it is not a JSON object' };
    // The schema is compiled with the first answer: most tools are never called.
    compiled ??= tryCompileSchema(schema);
    return compiled.ok ? findValueFault(value, compiled.value) : undefined;
  };
  if (validation === 'strict')
    return {
      listed,
      structure: 'required',
      check: (result) => {
        const fault = result.isError === true ? undefined : findFault(result.structuredContent);
        return fault === undefined ? result : toFaultResult(result, fault, method);
      },
      difference: () => undefined,
    };
  let difference: string | undefined;
  return {
    listed,
    structure: 'optional',
    check: (result) => {
      if (result.isError === true) return result;
      const { structuredContent } = result;
      const fault = findFault(structuredContent);
      if (fault !== undefined) difference ??= formatDifference(structuredContent, fault, schema);
      // Clients reject a result without structure if the tool has an output schema.
      return structuredContent === undefined ? { ...result, structuredContent: toStructure(result) } : result;
    },
    difference: () => difference,
  };
}

const UNCHECKED: OutputCheck = {
  listed: undefined,
  structure: 'none',
  check: (result) => result,
  difference: () => undefined,
};

/** A long integer is an object until serialized; the second check sees it as a number. */
function findValueFault(value: unknown, check: ReturnType<CompileSchema>): SchemaFault | undefined {
  return check(value) && check(JSON.parse(JSON.stringify(value)));
}

/** The answer, as an error. Some clients show only the first text, and it must not read like a failed request. */
function toFaultResult(
  { structuredContent: _, ...result }: BuiltInResult,
  { path, reason }: SchemaFault,
  method: string,
): BuiltInResult {
  const location = path.length === 0 ? '' : `at ${JSON.stringify(truncateText(path.join('.'), 200))} `;
  const advice = isSafeMethod(method) ? '' : ' Do not send it again before you know what it did.';
  const text = `The ${method} request was carried out, but its answer does not match the output schema: ${location}${reason}.${advice}`;
  return { ...result, content: [{ type: 'text', text }, ...result.content], isError: true };
}

/** Keys that are not in the schema may be data of a caller, and operators read this about all callers. */
function formatDifference(value: unknown, { path }: SchemaFault, schema: JsonObject): string {
  if (value === undefined) return 'it is not a JSON object';
  const names = listTexts(schema);
  const keys = path.map((key) => (names.has(key) ? key : '*'));
  return keys.length === 0 ? 'at the top level' : `at ${JSON.stringify(truncateText(keys.join('.'), 200))}`;
}

/** The keys and the strings in a schema. */
function listTexts(schema: JsonObject): ReadonlySet<string> {
  const texts = new Set<string>();
  const waiting: unknown[] = [schema];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') texts.add(value);
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) for (const key of Object.keys(value)) texts.add(key);
    for (const member of Object.values(value)) waiting.push(member);
  }
  return texts;
}

/** An answer that is not a JSON object, as the member `result`. */
function toStructure({ content: [first] }: BuiltInResult): JsonObject {
  const { text, mimeType } = first ?? {};
  if (typeof text !== 'string') return { result: mimeType ?? null };
  const json = nestsTooDeeply(text) ? undefined : parseExactJson(text);
  return { result: json === undefined ? text : json.value };
}

import { getUrlChooser } from '../../../core/reach-rules.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { EntryFault } from '@assay-mcp/kit/json-position';
import { serializeDeclared, type ToolFacts } from '../../../core/hints/tool-facts.ts';
import { computeMark } from '@assay-mcp/kit/digest';
import type { RestToolSpec } from '../../../core/sources/custom-tools.ts';
import type { BuiltInDefinition } from '@assay-mcp/functions/function-messages';
import type { CompileSchema, SchemaFault } from '../../../gateway/ports/compile-schema.ts';
import { fetchResult, formatRequest } from '../http/call-result.ts';
import type { FilterRunner } from '../http/filter-processes.ts';
import { findFilterFault, quoteAnswer } from '../http/filter.ts';
import type { HttpPort } from '../http/open-http.ts';
import { buildRequest, listRequestSecrets } from '../http/request-plan.ts';
import { maskResultSecrets } from '../http/request-secrets.ts';
import {
  type BuiltInResult,
  type BuiltInTool,
  serializeDefinition,
  toErrorResult,
} from '../built-in-tool.ts';
import { tryCompileSchema } from '../schema-check.ts';
import { planRequest } from './plan-request.ts';

/** Makes a tool of one HTTP request. The error is a sentence that names the unusable member. */
export function createRestTool(
  spec: RestToolSpec,
  { http, filters }: { readonly http: HttpPort; readonly filters: FilterRunner },
): Result<BuiltInTool, string> {
  const [fault] = faultsIn(spec);
  if (fault !== undefined) return err(`The ${fault.field} ${fault.phrase}.`);
  const filter = spec.filter === undefined ? undefined : { expression: spec.filter, runner: filters };
  const compiled = spec.outputSchema === undefined ? undefined : tryCompileSchema(spec.outputSchema);
  const check = compiled?.ok === true ? compiled.value : undefined;
  const plan = planRequest(spec);
  if (!plan.ok) return err(`The url cannot be used: ${plan.error}.`);
  const { maxBytes, timeoutMs } = spec;
  const chosenBy = getUrlChooser(spec);
  const secrets = listRequestSecrets(plan.value, spec.url);
  const run: BuiltInTool['run'] = async (args, { cancellation }) => {
    const prepared = buildRequest(plan.value, args);
    if (!prepared.ok) return maskResultSecrets(toErrorResult(prepared.error), secrets);
    const request = prepared.value;
    const hasOutputSchema = check !== undefined;
    const result = await fetchResult(request, {
      http,
      chosenBy,
      maxBytes,
      cancellation,
      filter,
      hasOutputSchema,
    });
    return maskResultSecrets(
      check === undefined ? result : checked(result, check, formatRequest(request)),
      secrets,
    );
  };
  return ok({ definition: definitionOf(spec), facts: factsOf(spec), timeoutMs, run });
}

interface Fault {
  readonly field: 'filter' | 'inputSchema' | 'outputSchema';
  readonly phrase: string;
}

function faultsIn({ filter, inputSchema, outputSchema }: RestToolSpec): readonly Fault[] {
  const fault = filter === undefined ? undefined : findFilterFault(filter);
  const schemas = [
    ['inputSchema', inputSchema],
    ['outputSchema', outputSchema],
  ] as const;
  return [
    ...(fault === undefined
      ? []
      : [{ field: 'filter', phrase: `is not a JMESPath expression: ${fault}` } as const]),
    ...schemas.flatMap(([field, schema]): readonly Fault[] => {
      const check = schema === undefined ? undefined : tryCompileSchema(schema);
      return check?.ok === false ? [{ field, phrase: `cannot be used: ${check.error}` }] : [];
    }),
  ];
}

/** Why a well-formed spec cannot become a tool: each fault with its member. */
export function findRestFaults(spec: RestToolSpec): readonly EntryFault[] {
  return faultsIn(spec).map(({ field, phrase }) => ({ field, reason: `It ${phrase}.` }));
}

/** JSON text of a REST tool's record. */
export function serializeRestRecord(spec: RestToolSpec): string {
  return serializeDeclared(serializeDefinition({ definition: definitionOf(spec) }), factsOf(spec));
}

function factsOf({ method, isMethodGiven, url }: RestToolSpec): ToolFacts {
  return { kind: 'rest', ...(isMethodGiven && { method }), target: computeMark(url) };
}

function definitionOf(spec: RestToolSpec): BuiltInDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = spec;
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations,
  };
}

/** An answer that does not match the output schema becomes an error (2025-11-25, server/tools#output-schema). */
function checked(result: BuiltInResult, check: ReturnType<CompileSchema>, request: string): BuiltInResult {
  if (result.isError === true) return result;
  const { structuredContent: value } = result;
  const fault = value === undefined ? { path: [], reason: 'it is not a JSON object' } : faultIn(value, check);
  if (fault === undefined) return result;
  const position = fault.path.length === 0 ? '' : ` at ${JSON.stringify(fault.path.join('.'))}`;
  const [first] = result.content;
  const text = first?.['type'] === 'text' ? ` ${quoteAnswer(String(first['text']))}` : '';
  return toErrorResult(
    `${request} was carried out, but its answer does not fit the outputSchema${position}: ${fault.reason}.${text}`,
  );
}

/** A long integer is an object until serialized; the second check sees it as a number. */
function faultIn(value: unknown, check: ReturnType<CompileSchema>): SchemaFault | undefined {
  return check(value) && check(JSON.parse(JSON.stringify(value)));
}

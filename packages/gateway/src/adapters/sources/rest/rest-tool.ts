import { getUrlChooser } from '../../../core/reach-rules.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { EntryFault } from '@assay-mcp/kit/json-position';
import { serializeDeclared, type ToolFacts } from '../../../core/hints/tool-facts.ts';
import { computeMark } from '@assay-mcp/kit/digest';
import type { RestToolSpec } from '../../../core/sources/custom-tools.ts';
import type { BuiltInDefinition } from '@assay-mcp/functions/function-messages';
import { fetchResult } from '../http/call-result.ts';
import type { FilterRunner } from '../http/filter-processes.ts';
import { findFilterFault } from '../http/filter.ts';
import type { HttpPort } from '../http/open-http.ts';
import { buildRequest, listRequestSecrets } from '../http/request-plan.ts';
import { maskResultSecrets } from '../http/request-secrets.ts';
import { type BuiltInTool, serializeDefinition, toErrorResult } from '../built-in-tool.ts';
import { toListedOutputSchema } from '../listed-output-schema.ts';
import { openOutputCheck, type OutputCheckOptions } from '../output-check.ts';
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
  const plan = planRequest(spec);
  if (!plan.ok) return err(`The url cannot be used: ${plan.error}.`);
  const { maxBytes, timeoutMs } = spec;
  const output = openOutputCheck(toOutputOptions(spec));
  const chosenBy = getUrlChooser(spec);
  const secrets = listRequestSecrets(plan.value, spec.url);
  const run: BuiltInTool['run'] = async (args, { cancellation }) => {
    const prepared = buildRequest(plan.value, args);
    if (!prepared.ok) return maskResultSecrets(toErrorResult(prepared.error), secrets);
    const { structure } = output;
    const sending = { http, chosenBy, maxBytes, cancellation, filter, structure };
    return maskResultSecrets(output.check(await fetchResult(prepared.value, sending)), secrets);
  };
  const { difference } = output;
  return ok({ definition: definitionOf(spec), facts: factsOf(spec), timeoutMs, run, difference });
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
  const { name, title, description, inputSchema, annotations } = spec;
  const outputSchema = spec.outputSchema && toListedOutputSchema(spec.outputSchema, spec.outputValidation);
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations,
  };
}

function toOutputOptions({ outputSchema, outputValidation, method }: RestToolSpec): OutputCheckOptions {
  return { schema: outputSchema, validation: outputValidation, method };
}

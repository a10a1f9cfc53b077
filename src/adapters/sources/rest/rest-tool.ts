import { chooserOf } from '../../../core/reach.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { EntryFault } from '../../../core/json-position.ts';
import { declaredText, type ToolFacts } from '../../../core/hints/tool-facts.ts';
import { markOf } from '../../../core/digest.ts';
import type { RestToolSpec } from '../../../core/sources/custom-tools.ts';
import type { CompileSchema, SchemaFault } from '../../../gateway/ports/compile-schema.ts';
import { callResult, shownRequest } from '../http/call-result.ts';
import type { FilterRunner } from '../http/filter-processes.ts';
import { filterFault, quotedAnswer } from '../http/filter.ts';
import type { HttpPort } from '../http/open-http.ts';
import { withoutSecrets } from '../http/request-secrets.ts';
import {
  type BuiltInDefinition,
  type BuiltInResult,
  type BuiltInTool,
  definitionText,
  refused,
} from '../built-in-tool.ts';
import { checkBy } from '../schema-check.ts';
import { prepareRequest, secretsOfRest } from './prepare-request.ts';

/** Makes a tool of one HTTP request. The error is a sentence that names the unusable member. */
export function restTool(
  spec: RestToolSpec,
  { http, filters }: { readonly http: HttpPort; readonly filters: FilterRunner },
): Result<BuiltInTool, string> {
  const [fault] = faultsIn(spec);
  if (fault !== undefined) return err(`The ${fault.field} ${fault.phrase}.`);
  const filter = spec.filter === undefined ? undefined : { expression: spec.filter, runner: filters };
  const compiled = spec.outputSchema === undefined ? undefined : checkBy(spec.outputSchema);
  const check = compiled?.ok === true ? compiled.value : undefined;
  const prepare = prepareRequest(spec);
  if (!prepare.ok) return err(`The url cannot be used: ${prepare.error}.`);
  const { maxBytes, timeoutMs } = spec;
  const chosenBy = chooserOf(spec);
  const secrets = secretsOfRest(spec);
  const run: BuiltInTool['run'] = async (args, { cancellation }) => {
    const prepared = prepare.value(args);
    if (!prepared.ok) return withoutSecrets(refused(prepared.error), secrets);
    const request = prepared.value;
    const hasOutputSchema = check !== undefined;
    const result = await callResult(request, {
      http,
      chosenBy,
      maxBytes,
      cancellation,
      filter,
      hasOutputSchema,
    });
    return withoutSecrets(
      check === undefined ? result : checked(result, check, shownRequest(request)),
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
  const fault = filter === undefined ? undefined : filterFault(filter);
  const schemas = [
    ['inputSchema', inputSchema],
    ['outputSchema', outputSchema],
  ] as const;
  return [
    ...(fault === undefined
      ? []
      : [{ field: 'filter', phrase: `is not a JMESPath expression: ${fault}` } as const]),
    ...schemas.flatMap(([field, schema]): readonly Fault[] => {
      const check = schema === undefined ? undefined : checkBy(schema);
      return check?.ok === false ? [{ field, phrase: `cannot be used: ${check.error}` }] : [];
    }),
  ];
}

/** Why a well-formed spec cannot become a tool: each fault with its member. */
export function faultsOfRest(spec: RestToolSpec): readonly EntryFault[] {
  return faultsIn(spec).map(({ field, phrase }) => ({ field, reason: `It ${phrase}.` }));
}

/** JSON text of a REST tool's record. */
export function restRecordText(spec: RestToolSpec): string {
  return declaredText(definitionText({ definition: definitionOf(spec) }), factsOf(spec));
}

function factsOf({ method, isMethodGiven, url }: RestToolSpec): ToolFacts {
  return { kind: 'rest', ...(isMethodGiven && { method }), target: markOf(url) };
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
  const text = first?.['type'] === 'text' ? ` ${quotedAnswer(String(first['text']))}` : '';
  return refused(
    `${request} was carried out, but its answer does not fit the outputSchema${position}: ${fault.reason}.${text}`,
  );
}

/** A long integer is an object until serialized; the second check sees it as a number. */
function faultIn(value: unknown, check: ReturnType<CompileSchema>): SchemaFault | undefined {
  return check(value) && check(JSON.parse(JSON.stringify(value)));
}

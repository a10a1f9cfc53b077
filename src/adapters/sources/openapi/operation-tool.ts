import { isSafeMethod } from '../../../core/hints/infer.ts';
import type { UrlChooser } from '../../../core/reach.ts';
import type { Result } from '../../../core/result.ts';
import { HTTP_FACTS, type HttpFacts } from '../../../core/sources/http-facts.ts';
import { markOf } from '../../../core/sources/made-facts.ts';
import { callResult } from '../http/call-result.ts';
import type { HttpPort } from '../http/http-port.ts';
import { keysIn } from '../http/shown-address.ts';
import { secretsInHeader, withoutSecrets } from '../http/without-secrets.ts';
import type { MadeArguments, MadeCall, MadeDefinition, MadeResult, MadeTool } from '../made-tool.ts';
import { checkBy } from '../schema-check.ts';
import { refused } from '../text-result.ts';
import { buildRequest, type RequestPlan } from './build-request.ts';
import type { OperationWords } from './operation-words.ts';
import type { Operation } from './operations.ts';
import type { Secret } from './security.ts';

/** An operation of which a tool can be made. */
export interface Making {
  readonly operation: Operation;
  readonly words: OperationWords;
  /** Whether it is somebody else's than that of the document. */
  readonly isOfOthers: boolean;
  readonly schemas: Pick<MadeDefinition, 'inputSchema' | 'outputSchema'>;
  readonly plan: Omit<RequestPlan, 'secrets'>;
  /** Who chose where its requests go. */
  readonly chosenBy: UrlChooser;
  /** The error is a sentence: why no call can be made. */
  readonly secrets: Result<readonly Secret[], string>;
}

export interface CallOptions {
  readonly timeoutMs: number;
  /** Most bytes of an answer. */
  readonly maxBytes: number;
  readonly http: HttpPort;
}

export function operationTool(making: Making, name: string, options: CallOptions): MadeTool {
  const { words, schemas } = making;
  const { title, description, annotations } = words;
  const check = checkOfAnswers(schemas.outputSchema);
  const told = secretsIn(making);
  return {
    definition: {
      name,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...schemas,
      ...(annotations !== undefined && { annotations }),
      _meta: { [HTTP_FACTS]: factsOf(making) },
    },
    timeoutMs: options.timeoutMs,
    run: async (args, call) => withoutSecrets(check(await run(making, options, { args, call })), told),
  };
}

/** What its requests say of who asks. */
function secretsIn({ plan, secrets }: Making): readonly string[] {
  const inSchemes = secrets.ok ? secrets.value.map(({ value }) => value) : [];
  const inHeaders = [...inSchemes, ...Object.values(plan.headers)].flatMap(secretsInHeader);
  return [...inHeaders, ...keysIn(plan.server.pathname + plan.server.search)];
}

/** A document that is trusted lends nothing of that to what it only refers to: of what has effects nothing is inferred. */
function factsOf({ operation: { method, path }, plan, isOfOthers }: Making): HttpFacts {
  const facts = { path, target: markOf(plan.server.href) };
  return isOfOthers && !isSafeMethod(method) ? facts : { method, ...facts };
}

interface Calling {
  readonly args: MadeArguments;
  readonly call: MadeCall;
}

async function run(making: Making, options: CallOptions, { args, call }: Calling): Promise<MadeResult> {
  const { plan, secrets, schemas, chosenBy } = making;
  if (!secrets.ok) return refused(secrets.error);
  const request = buildRequest({ ...plan, secrets: secrets.value }, args.text);
  if (!request.ok) return refused(request.error);
  const { maxBytes, http } = options;
  const hasOutputSchema = schemas.outputSchema !== undefined;
  return callResult(request.value, { http, chosenBy, maxBytes, signal: call.signal, hasOutputSchema });
}

/**
 * Clients throw away a success that does not fit its schema, and all that it says. Many a document promises more than its
 * server keeps: such an answer is given as it came, as one that went wrong.
 */
function checkOfAnswers(schema: MadeDefinition['outputSchema']): (result: MadeResult) => MadeResult {
  if (schema === undefined) return (result) => result;
  let compiled: ReturnType<typeof checkBy> | undefined;
  return (result) => {
    if (result.isError === true) return result;
    compiled ??= checkBy(schema);
    const { structuredContent, ...bare } = result;
    // A long integer is an object until it is written.
    const value: unknown = structuredContent && JSON.parse(JSON.stringify(structuredContent));
    const fault = faultOf(value, compiled);
    if (fault === undefined) return result;
    const text = `The request was carried out, but its answer is not as the document promises: ${fault}.`;
    return { ...bare, content: [...result.content, { type: 'text', text }], isError: true };
  };
}

/** A phrase. */
function faultOf(value: unknown, check: ReturnType<typeof checkBy>): string | undefined {
  if (value === undefined) return 'it is no JSON object';
  if (!check.ok) return undefined;
  const fault = check.value(value);
  if (fault === undefined) return undefined;
  const place = fault.path.length === 0 ? '' : `at ${JSON.stringify(fault.path.join('.').slice(0, 200))} `;
  return `${place}${fault.reason}`;
}

import { isSafeMethod } from '@assay-mcp/kit/infer-hints';
import type { UrlChooser } from '../../../core/reach-rules.ts';
import type { OutputValidation } from '../../../core/sources/output-validation.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Credential } from '../../../core/server-spec.ts';
import type { ToolFacts } from '../../../core/hints/tool-facts.ts';
import { computeMark } from '@assay-mcp/kit/digest';
import {
  type OperationFilter,
  selectsOperation,
  findUnusedOperationPatterns,
} from '../../../core/sources/operation-filter.ts';
import { isDotSegment, readPattern } from '../../../core/sources/url-template.ts';
import type { BuiltInDefinition } from '@assay-mcp/functions/function-messages';
import type { Skipped } from '../../../gateway/ports/link.ts';
import { Turns } from '@assay-mcp/kit/turns';
import { fetchResult } from '../http/call-result.ts';
import type { HttpPort } from '../http/open-http.ts';
import { buildRequest, listRequestSecrets, type RequestPlan, type Secret } from '../http/request-plan.ts';
import { formatAddress, maskResultSecrets } from '../http/request-secrets.ts';
import { encodeComponent } from '../http/write-values.ts';
import {
  type BuiltInArguments,
  type BuiltInCall,
  type BuiltInResult,
  type BuiltInTool,
  type BuiltInTools,
  toErrorResult,
} from '../built-in-tool.ts';
import { openOutputCheck, type OutputCheck } from '../output-check.ts';
import type { ArgumentPlan } from './argument-plan.ts';
import type { Documents } from './documents.ts';
import { readAnswers, type InputDrafts, buildToolInput, isJson } from './tool-schemas.ts';
import {
  isOfOthers,
  isVersion30,
  type Operation,
  readOperations,
  readOperationWords,
  type OperationWords,
  assignToolNames,
} from './operations.ts';
import { type Parameter, readParameters, readRequestBody, type RequestBody } from './parameters.ts';
import { openSchemaDrafts, type SchemaDrafts } from './schema-definitions.ts';
import {
  type NoServer,
  resolveOperationSecrets,
  resolveOperationServer,
  type RequestTarget,
  withholdSecrets,
} from './servers-and-security.ts';

export interface MakingOptions extends CallOptions {
  readonly documents: Documents;
  readonly baseUrl?: string | undefined;
  readonly operations?: OperationFilter | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, Credential>>;
  readonly outputValidation: OutputValidation;
  /** Who chose the server of an operation. */
  readonly chooserOf: (server: RequestTarget) => UrlChooser;
}

/** More than any client can handle; further operations are skipped. */
const MAX_OPERATIONS = 10_000;

/** Makes a tool of each operation of a document. The error is a phrase about the document. */
export async function makeTools(
  options: MakingOptions,
  signal: AbortSignal,
): Promise<Result<BuiltInTools, string>> {
  const turns = new Turns();
  const found = await readOperations(options.documents, turns);
  if (!found.ok) return found;
  const { operations: filter = {} } = options;
  const skipped: Skipped[] = [
    ...found.value.skipped,
    ...findUnusedOperationPatterns(filter, found.value.operations).map((pattern) => ({
      what: `"${pattern}" in "operations"`,
      why: 'it matches no operation of the document',
    })),
  ];
  const makings: ToolPlan[] = [];
  let lacking: NoServer | undefined;
  const making = openMaking(options);
  let selected = 0;
  for (const operation of found.value.operations) {
    if (turns.isOver) await turns.next();
    if (signal.aborted) return err('was not read to its end');
    if (!selectsOperation(filter, operation)) continue;
    selected += 1;
    const made =
      selected <= MAX_OPERATIONS ? making(operation) : err(`it is one of more than ${MAX_OPERATIONS}`);
    if (made.ok) makings.push(made.value);
    else {
      const { why, lacksBase } =
        typeof made.error === 'string' ? { why: made.error, lacksBase: false } : made.error;
      if (lacksBase) lacking ??= { why, lacksBase };
      skipped.push({ what: `${operation.method} ${operation.path}`, why });
    }
  }
  if (makings.length === 0 && lacking !== undefined) return err(`names no server: ${lacking.why}`);
  const names = assignToolNames(makings.map(({ operation, words }) => ({ operation, given: words.name })));
  return ok({ tools: makings.map((one, index) => operationTool(one, names[index] ?? '', options)), skipped });
}

function openMaking(options: MakingOptions): (operation: Operation) => Result<ToolPlan, string | NoServer> {
  const { documents, headers } = options;
  const drafts = draftsOf(documents, 'input');
  const outputs = draftsOf(documents, 'output');
  return (operation) => {
    const words = readOperationWords(operation, documents);
    if (!words.isEnabled) return err('its x-mcp disables it');
    if (words.isContradictory)
      return err('its x-mcp contradicts itself: readOnlyHint and destructiveHint are both true');
    const unfit = unfitness(operation);
    if (unfit !== undefined) return err(unfit);
    const server = resolveOperationServer(operation, options);
    if (!server.ok) return server;
    const parameters = readParameters(operation, documents);
    if (!parameters.ok) return parameters;
    const body = readRequestBody(operation, documents);
    if (!body.ok) return body;
    const secrets = withholdSecrets(resolveOperationSecrets(operation, options), server.value, options);
    const open = parameters.value.filter((parameter) => !isSettled(parameter, headers, secrets));
    const input = buildToolInput({ parameters: open, body: body.value }, drafts);
    if (!input.ok) return input;
    const answers = readAnswers(operation, documents, outputs.full);
    const { schema } = input.value;
    const { url } = server.value;
    return ok({
      operation,
      words,
      isOfOthers: isOfOthers(operation, documents),
      secrets,
      chosenBy: options.chooserOf(server.value),
      inputSchema: schema,
      output: openOutputCheck({
        schema: answers.schema,
        validation: options.outputValidation,
        method: operation.method,
      }),
      server: url,
      plan: {
        ...planTarget(url, operation.path),
        ...planArgumentSlots(input.value, body.value),
        method: operation.method,
        defaults: [['Accept', acceptOf(answers.mediaTypes)]],
        // The media type of a body is that of the document.
        headers: Object.entries(headers).filter(
          ([name]) => body.value === undefined || name.toLowerCase() !== 'content-type',
        ),
      },
    });
  };
}

function planTarget(server: URL, path: string): Pick<RequestPlan, 'origin' | 'path' | 'query' | 'shownUrl'> {
  const [steps = '', query = ''] = (path.split('#')[0] ?? '').split(/\?(.*)/s);
  const base = server.pathname.replace(/\/+$/, '');
  const { texts, names } = readPattern(steps);
  return {
    origin: server.origin,
    path: { texts: texts.map((text, index) => (index === 0 ? base : '') + encodePathText(text)), names },
    query: [server.search.slice(1), query].flatMap((text) =>
      text === '' ? [] : [{ texts: [text], names: [] }],
    ),
    shownUrl: formatAddress(server.origin, base + steps),
  };
}

/** Encodes the characters that a path may not hold. */
function encodePathText(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/gu, (one) =>
    one.length === 3 && one.startsWith('%') ? one : encodeComponent(one),
  );
}

function planArgumentSlots(
  { plan, binaries }: { readonly plan: ArgumentPlan; readonly binaries: ReadonlySet<string> },
  body: RequestBody | undefined,
): Pick<RequestPlan, 'slots' | 'others' | 'body'> {
  const { slots } = plan;
  if (body === undefined || plan.body.kind === 'none') return { slots };
  const { kind, mediaType, encoding, isRequired } = body;
  const form = { kind, mediaType, encoding, isRequired, binaries };
  if (plan.body.kind === 'whole') return { slots, body: { ...form, argument: plan.body.argument } };
  const { members, takesOthers } = plan.body;
  const inBody = members.map(({ argument, property }) => ({
    argument,
    parameter: { name: property, location: 'body', form: JSON_VALUE } as const,
  }));
  return {
    slots: [...slots, ...inBody],
    body: form,
    ...(takesOthers && { others: { location: 'body', form: JSON_VALUE } }),
  };
}

const JSON_VALUE = { style: 'json', explode: false, allowReserved: false } as const;

function draftsOf(documents: Documents, direction: 'input' | 'output'): InputDrafts {
  const ignoresSiblings = isVersion30(documents.root.value);
  const open = (hasWords: boolean): SchemaDrafts =>
    openSchemaDrafts({ documents, direction, hasWords, ignoresSiblings });
  let bare: SchemaDrafts | undefined;
  return { full: open(true), bare: () => (bare ??= open(false)) };
}

/** A phrase: why an operation cannot be called. */
function unfitness({ method, path }: Operation): string | undefined {
  if (method === 'TRACE') return 'TRACE echoes the request, including secrets';
  if (!path.startsWith('/')) return 'its path does not begin with "/"';
  const [steps = '', query = ''] = path.split(/[?#](.*)/s);
  if (query.includes('{')) return 'its path has a parameter behind "?" or "#"';
  return steps.split('/').some(isDotSegment) ? 'its path contains a "." or ".." segment' : undefined;
}

/** Whether the operator supplies the parameter, so that it is not a tool argument. */
function isSettled(
  { name, location }: Parameter,
  headers: Readonly<Record<string, string>>,
  secrets: Result<readonly Secret[], string>,
): boolean {
  const isSame = (other: string): boolean =>
    location === 'header' ? other.toLowerCase() === name.toLowerCase() : other === name;
  if (location === 'header' && Object.keys(headers).some(isSame)) return true;
  return secrets.ok && secrets.value.some((secret) => secret.location === location && isSame(secret.name));
}

function acceptOf(mediaTypes: readonly string[]): string {
  const sendable = mediaTypes.filter((type) => /^[\x21-\x7e ]+$/.test(type) && !type.includes(','));
  const json = sendable.filter(isJson);
  return [
    ...(json.length > 0 ? json : sendable.length > 0 ? sendable : ['application/json']),
    '*/*;q=0.8',
  ].join(', ');
}

/** An operation that can become a tool. */
interface ToolPlan {
  readonly operation: Operation;
  readonly words: OperationWords;
  /** Whether it comes from a third party; see `isOfOthers`. */
  readonly isOfOthers: boolean;
  readonly inputSchema: BuiltInDefinition['inputSchema'];
  readonly output: OutputCheck;
  readonly server: URL;
  readonly plan: Omit<RequestPlan, 'secrets'>;
  /** Who chose its server. */
  readonly chosenBy: UrlChooser;
  /** The error is a sentence: why no call can be made. */
  readonly secrets: Result<readonly Secret[], string>;
}

interface CallOptions {
  readonly timeoutMs: number;
  /** Maximum number of bytes to read of an answer. */
  readonly maxBytes: number;
  readonly http: HttpPort;
}

function operationTool(making: ToolPlan, name: string, options: CallOptions): BuiltInTool {
  const { words, inputSchema, output } = making;
  const { title, description, annotations } = words;
  const { plan, server } = making;
  const secrets = making.secrets.ok ? making.secrets.value : [];
  const told = listRequestSecrets({ headers: plan.headers, secrets }, server.pathname + server.search);
  return {
    definition: {
      name,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      inputSchema,
      ...(output.listed !== undefined && { outputSchema: output.listed }),
      ...(annotations !== undefined && { annotations }),
    },
    facts: toFacts(making),
    timeoutMs: options.timeoutMs,
    run: async (args, call) =>
      maskResultSecrets(output.check(await run(making, options, { args, call })), told),
    difference: output.difference,
  };
}

/** Trust in a document does not extend to what it refers to: nothing is inferred from an unsafe method there. */
function toFacts({ operation: { method, path }, server, isOfOthers }: ToolPlan): ToolFacts {
  const facts = { kind: 'openapi', path, target: computeMark(server.href) } as const;
  return isOfOthers && !isSafeMethod(method) ? facts : { method, ...facts };
}

interface CallInput {
  readonly args: BuiltInArguments;
  readonly call: BuiltInCall;
}

async function run(
  making: ToolPlan,
  options: CallOptions,
  { args, call }: CallInput,
): Promise<BuiltInResult> {
  const { plan, secrets, output, chosenBy } = making;
  if (!secrets.ok) return toErrorResult(secrets.error);
  const request = buildRequest({ ...plan, secrets: secrets.value }, args);
  if (!request.ok) return toErrorResult(request.error);
  const { maxBytes, http } = options;
  return fetchResult(request.value, {
    http,
    chosenBy,
    maxBytes,
    cancellation: call.cancellation,
    structure: output.structure,
  });
}

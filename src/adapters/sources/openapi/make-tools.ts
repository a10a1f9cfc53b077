import type { UrlChooser } from '../../../core/reach.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { Credential } from '../../../core/server-spec.ts';
import { isDotSegment } from '../../../core/sources/path-value.ts';
import type { Skipped } from '../../../gateway/ports.ts';
import type { MadeTools } from '../made-tool.ts';
import { shownUrlOf } from './build-request.ts';
import type { Documents } from './documents.ts';
import { inputOf, type InputDrafts } from './input-schema.ts';
import { operationTool, type CallOptions, type Making } from './operation-tool.ts';
import { operationWords } from './operation-words.ts';
import { isOfOthers, isVersion30, operationsIn, type Operation } from './operations.ts';
import { answersOf, isJson } from './output-schema.ts';
import { parametersOf, type Parameter } from './parameters.ts';
import { requestBodyOf } from './request-body.ts';
import { openSchemaDrafts, type SchemaDrafts } from './schema-drafts.ts';
import { secretsOf, type Secret } from './security.ts';
import { serverOf, type NoServer, type ServerPlace } from './servers.ts';
import { toolNames } from './tool-names.ts';
import { withheldSecrets } from './withheld-secrets.ts';

export interface MakingOptions extends CallOptions {
  readonly documents: Documents;
  readonly baseUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, Credential>>;
  /** Who chose where the requests of an operation go. */
  readonly chooserOf: (server: ServerPlace) => UrlChooser;
}

/** More than any client can take; what follows is skipped. */
const MOST_OPERATIONS = 10_000;
/** So many operations are made into tools before others have their turn. */
const AT_A_STRETCH = 50;

/** A tool for each operation of a document. The error is a phrase about the document. */
export async function makeTools(
  options: MakingOptions,
  signal: AbortSignal,
): Promise<Result<MadeTools, string>> {
  const found = operationsIn(options.documents);
  if (!found.ok) return found;
  const skipped: Skipped[] = [...found.value.skipped];
  const makings: Making[] = [];
  let lacking: NoServer | undefined;
  const making = openMaking(options);
  for (const [index, operation] of found.value.operations.entries()) {
    if (index % AT_A_STRETCH === 0) await new Promise(setImmediate);
    if (signal.aborted) return err('was not read to its end');
    const made =
      index < MOST_OPERATIONS ? making(operation) : err(`it is one of more than ${MOST_OPERATIONS}`);
    if (made.ok) makings.push(made.value);
    else {
      const { why, lacksBase } =
        typeof made.error === 'string' ? { why: made.error, lacksBase: false } : made.error;
      if (lacksBase) lacking ??= { why, lacksBase };
      skipped.push({ what: `${operation.method} ${operation.path}`, why });
    }
  }
  if (makings.length === 0 && lacking !== undefined) return err(`tells of no server: ${lacking.why}`);
  const names = toolNames(makings.map(({ operation, words }) => ({ operation, given: words.name })));
  return ok({ tools: makings.map((one, index) => operationTool(one, names[index] ?? '', options)), skipped });
}

function openMaking(options: MakingOptions): (operation: Operation) => Result<Making, string | NoServer> {
  const { documents, headers } = options;
  const drafts = draftsOf(documents, 'input');
  const outputs = draftsOf(documents, 'output');
  return (operation) => {
    const words = operationWords(operation, documents);
    if (!words.isEnabled) return err('its x-mcp says that it is not enabled');
    if (words.isContradictory)
      return err('its x-mcp contradicts itself: readOnlyHint and destructiveHint are both true');
    const unfit = unfitness(operation);
    if (unfit !== undefined) return err(unfit);
    const server = serverOf(operation, options);
    if (!server.ok) return server;
    const parameters = parametersOf(operation, documents);
    if (!parameters.ok) return parameters;
    const body = requestBodyOf(operation, documents);
    if (!body.ok) return body;
    const secrets = withheldSecrets(secretsOf(operation, options), server.value, options);
    const open = parameters.value.filter((parameter) => !isSettled(parameter, headers, secrets));
    const input = inputOf({ parameters: open, body: body.value }, drafts);
    if (!input.ok) return input;
    const answers = answersOf(operation, documents, outputs.full);
    const { schema, plan, binaries } = input.value;
    return ok({
      operation,
      words,
      isOfOthers: isOfOthers(operation, documents),
      secrets,
      chosenBy: options.chooserOf(server.value),
      schemas: { inputSchema: schema, ...(answers.schema !== undefined && { outputSchema: answers.schema }) },
      plan: {
        method: operation.method,
        server: server.value.url,
        path: operation.path,
        shownUrl: shownUrlOf({ server: server.value.url, path: operation.path }),
        arguments: plan,
        body: body.value,
        binaries,
        accept: acceptOf(answers.mediaTypes),
        headers,
      },
    });
  };
}

function draftsOf(documents: Documents, direction: 'input' | 'output'): InputDrafts {
  const ignoresSiblings = isVersion30(documents.root.value);
  const open = (hasWords: boolean): SchemaDrafts =>
    openSchemaDrafts({ documents, direction, hasWords, ignoresSiblings });
  let bare: SchemaDrafts | undefined;
  return { full: open(true), bare: () => (bare ??= open(false)) };
}

/** A phrase: why an operation is none that can be called. */
function unfitness({ method, path }: Operation): string | undefined {
  if (method === 'TRACE') return 'TRACE sends back what came, secrets included';
  if (!path.startsWith('/')) return 'its path does not begin with "/"';
  const [steps = '', query = ''] = path.split(/[?#](.*)/s);
  if (query.includes('{')) return 'its path has a parameter behind "?" or "#"';
  return steps.split('/').some(isDotSegment) ? 'its path holds "." or ".." as a step' : undefined;
}

/** What the operator gives is no argument of a model. */
function isSettled(
  { name, place }: Parameter,
  headers: Readonly<Record<string, string>>,
  secrets: Result<readonly Secret[], string>,
): boolean {
  const isSame = (other: string): boolean =>
    place === 'header' ? other.toLowerCase() === name.toLowerCase() : other === name;
  if (place === 'header' && Object.keys(headers).some(isSame)) return true;
  return secrets.ok && secrets.value.some((secret) => secret.place === place && isSame(secret.name));
}

function acceptOf(mediaTypes: readonly string[]): string {
  const sendable = mediaTypes.filter((type) => /^[\x21-\x7e ]+$/.test(type) && !type.includes(','));
  const json = sendable.filter(isJson);
  return [
    ...(json.length > 0 ? json : sendable.length > 0 ? sendable : ['application/json']),
    '*/*;q=0.8',
  ].join(', ');
}

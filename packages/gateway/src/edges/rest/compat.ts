import * as z from 'zod';
import type { FieldWarning } from '../../api/warnings.ts';
import type { FieldError } from '../../core/field-error.ts';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { formatPointerStep } from '@assay-mcp/kit/json-pointer';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { truncateText } from '@assay-mcp/kit/shorten';
import { type SentBody, toFieldErrors } from './read-fields.ts';
import type { RouteSpec } from './route.ts';
import { getSchemaMembers, mapObjects } from './schema-members.ts';
import { isCopy, isSameJson } from './unchanged-fields.ts';

// Everything that clients may send in another form than the schemas of the routes: names in snake_case, bodies in a
// wrapper object, and what ContextForge's clients send. Routes see none of it.

/** Name of the object that a body may be wrapped in, by path. */
const WRAPPERS: Readonly<Record<string, string>> = {
  '/tools': 'tool',
  '/tools/{id}': 'tool',
  '/tools/{id}/run': 'run',
  '/tools/{id}/notes': 'note',
  '/tools/{id}/notes/{toolset}/{name}': 'note',
  '/notes': 'note',
  '/notes/{toolset}/{tool}/{name}': 'note',
  '/functions': 'function',
  '/gateways': 'gateway',
  '/gateways/{id}': 'gateway',
  '/openapi': 'gateway',
  '/openapi/preview': 'gateway',
  '/toolsets': 'toolset',
  '/toolsets/{name}': 'toolset',
  '/toolsets/{name}/add': 'add',
  '/toolsets/{name}/remove': 'remove',
  '/toolsets/{name}/accept': 'accept',
  '/approvals/{id}/approve': 'approval',
  '/approvals/{id}/deny': 'approval',
  '/policy/rules': 'policy',
  '/preferences': 'preferences',
  '/tokens': 'token',
  '/tokens/{id}/preferences': 'preferences',
  '/sign-in-links': 'link',
  '/export': 'export',
  '/import': 'import',
};

/** Fields common to all of ContextForge's models that have no effect here. */
const COMMON: readonly string[] = [
  ...['id', 'slug', 'team', 'teamId', 'ownerEmail', 'visibility', 'version'],
  ...['createdAt', 'createdBy', 'createdFromIp', 'createdVia', 'createdUserAgent'],
  ...['updatedAt', 'modifiedBy', 'modifiedFromIp', 'modifiedVia', 'modifiedUserAgent'],
  ...['importBatchId', 'federationSource', 'reachable', 'metrics'],
];

const IGNORED_OF_GATEWAYS: ReadonlySet<string> = new Set([
  ...COMMON,
  ...['description', 'capabilities', 'gatewayMode', 'refreshIntervalSeconds', 'passthroughHeaders'],
  ...['oneTimeAuth', 'caCertificate', 'caCertificateSig', 'signingAlgorithm'],
  ...['status', 'statusMessage', 'registrationAttempts', 'nextRetryAt', 'lastError', 'lastSeen'],
  ...['lastRefreshAt', 'toolCount', 'promptCount', 'resourceCount', 'skippedTools'],
]);

const IGNORED_OF_TOOLS: ReadonlySet<string> = new Set([
  ...COMMON,
  ...['displayName', 'customName', 'customNameSlug', 'gatewaySlug', 'gatewayId', 'grpcServiceId'],
  ...['originalName', 'originalDescription', 'integrationType', 'extensionMetadata', 'jsonpathFilter'],
  ...['deprecated', 'executionCount', 'baseUrl', 'pathTemplate', 'exposePassthrough', 'allowlist'],
  ...['pluginChainPre', 'pluginChainPost', 'tags'],
]);

/** Fields of ContextForge's models without a counterpart, by path. Those that the schema of the route names count. */
const IGNORED: Readonly<Record<string, ReadonlySet<string>>> = {
  '/tools': IGNORED_OF_TOOLS,
  '/tools/{id}': IGNORED_OF_TOOLS,
  '/gateways': IGNORED_OF_GATEWAYS,
  '/gateways/{id}': IGNORED_OF_GATEWAYS,
  '/openapi': IGNORED_OF_GATEWAYS,
  '/openapi/preview': IGNORED_OF_GATEWAYS,
};

type Spec = Pick<RouteSpec<z.ZodType, z.ZodType>, 'path' | 'body'>;

/** A body in the names and forms of its route's schema. */
interface OwnBody extends SentBody {
  readonly warnings: readonly FieldWarning[];
}

/** Turns a body into the form that its route declares. `current`: what GET shows now. */
export function toOwnBody({ path, body }: Required<Spec>, sent: unknown, current: JsonObject = {}): OwnBody {
  const report = startReport();
  const known = getSchemaMembers(body.schema) ?? new Map<string, unknown>();
  const ignored = IGNORED[path];
  const isIgnored = (name: string): boolean => ignored?.has(name) === true && !known.has(name);
  const wrapper = WRAPPERS[path];
  const isWrapper = wrapper !== undefined && !known.has(wrapper);
  const bare = isWrapper ? unwrap(sent, { wrapper, isIgnored }, report) : sent;
  const renamed = renameMembers(body.schema, bare, report);
  const own = { ...buildSentBody(report, renamed), warnings: report.warnings };
  if (ignored === undefined || !isJsonObject(renamed)) return own;
  const isCreated = body.current === undefined;
  const used = known.has('method') ? moveMethod(renamed, isCreated, report) : changeTransport(renamed);
  const moved = moveAuthToHeaders(used, current['headers'], report);
  return { ...own, value: omitIgnored(moved, { isIgnored, current }, report) };
}

/** Turns query parameters into those that the schema names. */
export function toOwnQuery(query: URLSearchParams, schema: z.ZodType): SentBody {
  const report = startReport();
  return buildSentBody(report, renameMembers(schema, Object.fromEntries(query), report));
}

/** What else clients may send, for the OpenAPI document. */
export function describeOtherForms({ path, body }: Required<Spec>): string | undefined {
  const ignored = IGNORED[path];
  const known = getSchemaMembers(body.schema);
  if (ignored === undefined || known === undefined) return undefined;
  const names = [...ignored].filter((name) => !known.has(name)).join(', ');
  const alias = known.has('method') ? ', and `requestType` is an alias of `method`' : '';
  return `Takes bodies of ContextForge’s clients too: \`authType\` (bearer, basic or authheaders) with ${CREDENTIALS_TEXT} becomes \`headers\`${alias}. Ignored, and listed in \`warnings\` of the response: ${names}.`;
}

const CREDENTIALS_TEXT = '`authToken`, `authUsername` and `authPassword`, or `authHeaders`';

const TEXT = z.string().nullable().optional();

/** ContextForge's fields for credentials. */
const AUTH = z.object({
  authType: TEXT,
  authToken: TEXT,
  authUsername: TEXT,
  authPassword: TEXT,
  authHeaderKey: TEXT,
  authHeaderValue: TEXT,
  authHeaders: z
    .array(z.strictObject({ key: z.string(), value: z.string() }))
    .nullable()
    .optional(),
});

type Auth = z.output<typeof AUTH>;

/** What was found on the way. */
interface Report {
  readonly fieldErrors: FieldError[];
  readonly warnings: FieldWarning[];
  /** Maps JSON pointers into the value to those into the body as sent, if they differ from that of the parent. */
  readonly sent: Map<string, string>;
}

const MAX_WARNINGS = 50;
const MAX_KEY_LENGTH = 100;

function startReport(): Report {
  return { fieldErrors: [], warnings: [], sent: new Map() };
}

function buildSentBody(report: Report, value: unknown): SentBody {
  return { value, fieldErrors: report.fieldErrors, pointerTo: (path) => pointerTo(path, report) };
}

function pointerTo(path: readonly PropertyKey[], { sent }: Report): string {
  const steps = path.map(formatPointerStep);
  for (let length = steps.length; length >= 0; length -= 1) {
    const known = sent.get(steps.slice(0, length).join(''));
    if (known !== undefined) return known + steps.slice(length).join('');
  }
  return steps.join('');
}

interface Ignoring {
  readonly isIgnored: (name: string) => boolean;
}

function unwrap(
  sent: unknown,
  { wrapper, isIgnored }: Ignoring & { readonly wrapper: string },
  report: Report,
): unknown {
  if (!isJsonObject(sent) || !Object.hasOwn(sent, wrapper)) return sent;
  const { [wrapper]: inner, ...others } = sent;
  for (const [key, value] of Object.entries(others)) {
    const at = formatPointerStep(truncateText(key, MAX_KEY_LENGTH));
    const reason = `there is no such field beside ${JSON.stringify(wrapper)}`;
    if (isIgnored(toCamelCase(key))) warn(at, value, report);
    else report.fieldErrors.push({ at, kind: 'unknown', reason });
  }
  report.sent.set('', formatPointerStep(wrapper));
  return inner;
}

/** From snake_case to the camelCase of the schema, only where the schema names members. */
function renameMembers(schema: z.ZodType, value: unknown, report: Report): unknown {
  return mapObjects(schema, value, (object, members, path) => {
    const renamed = new Map<string, unknown>();
    for (const [key, one] of Object.entries(object)) {
      const name = members.has(key) ? key : toCamelCase(key);
      const at = pointerTo(path, report) + formatPointerStep(truncateText(key, MAX_KEY_LENGTH));
      if (name !== key && !renamed.has(name))
        report.sent.set([...path, name].map(formatPointerStep).join(''), at);
      if (renamed.has(name))
        report.fieldErrors.push({ at, kind: 'twice', reason: 'it is given twice, under two spellings' });
      else renamed.set(name, one);
    }
    return Object.fromEntries(renamed);
  });
}

/** `integrationType` says that a new tool sends HTTP requests; other tools cannot be created. */
function moveMethod(members: JsonObject, isCreated: boolean, report: Report): JsonObject {
  const { requestType, integrationType, ...others } = members;
  if (isCreated && integrationType !== undefined && integrationType !== 'REST')
    refuse('integrationType', 'it must be "REST"', report);
  const rest = isCreated || integrationType === undefined ? others : { ...others, integrationType };
  if (requestType === undefined) return rest;
  const { method } = others;
  if (method === undefined) report.sent.set('/method', pointerTo(['requestType'], report));
  else if (method !== requestType)
    refuse('requestType', 'it differs from method; give only one of them', report);
  return { ...rest, method: requestType };
}

/** ContextForge writes `SSE` and `STREAMABLEHTTP`. */
function changeTransport(members: JsonObject): JsonObject {
  const { transport } = members;
  if (typeof transport !== 'string') return members;
  return { ...members, transport: transport.toLowerCase().replace(/^streamablehttp$/, 'streamable-http') };
}

/** `former`: names of the headers that new ones would replace. */
function moveAuthToHeaders(members: JsonObject, former: unknown, report: Report): JsonObject {
  const isOfAuth = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(AUTH.shape, name);
  const entries = Object.entries(members);
  const auth = AUTH.safeParse(Object.fromEntries(entries.filter(isOfAuth)), { reportInput: true });
  const others: JsonObject = Object.fromEntries(entries.filter((entry) => !isOfAuth(entry)));
  if (!auth.success) {
    report.fieldErrors.push(...toFieldErrors(auth.error, (path) => pointerTo(path, report)));
    return others;
  }
  const made = toHeaders(auth.data);
  if (!made.ok) refuse(made.error.field, made.error.reason, report);
  if (!made.ok || Object.keys(made.value).length === 0) return others;
  const { headers } = others;
  const at = pointerTo(['authType'], report);
  for (const name of Object.keys(made.value)) report.sent.set(`/headers${formatPointerStep(name)}`, at);
  if (isJsonObject(headers)) return { ...others, headers: { ...headers, ...made.value } };
  const isKept = headers !== undefined && headers !== null && !isSameJson(headers, former);
  if (isKept) return others; // The schema refuses it.
  const names: readonly unknown[] = Array.isArray(former) ? former : [];
  const lost = names.find((name) => !Object.hasOwn(made.value, String(name)));
  const reason = `it would remove the header ${JSON.stringify(lost)}; give all of them in "headers"`;
  if (lost !== undefined) refuse('authType', reason, report);
  report.sent.set('/headers', at);
  return { ...others, headers: made.value };
}

const CREDENTIALS = ['authToken', 'authPassword', 'authHeaderValue'] as const;

interface AuthFault {
  readonly field: keyof Auth;
  readonly reason: string;
}

/** Empty without credentials. */
function toHeaders(auth: Auth): Result<Readonly<Record<string, string>>, AuthFault> {
  const { authType, authToken, authUsername, authPassword, authHeaderKey, authHeaderValue } = auth;
  const missing = (field: keyof Auth): Result<never, AuthFault> => err({ field, reason: 'it is missing' });
  switch (authType ?? '') {
    case '':
    case 'none': {
      const field = CREDENTIALS.find((name) => isText(auth[name]));
      return field === undefined ? ok({}) : err({ field, reason: 'it has no effect without authType' });
    }
    case 'bearer':
      return isText(authToken) ? ok({ Authorization: `Bearer ${authToken}` }) : missing('authToken');
    case 'basic': {
      if (!isText(authUsername)) return missing('authUsername');
      if (!isText(authPassword)) return missing('authPassword');
      const pair = Buffer.from(`${authUsername}:${authPassword}`).toString('base64');
      return ok({ Authorization: `Basic ${pair}` });
    }
    case 'authheaders': {
      const pairs = auth.authHeaders ?? [];
      if (pairs.length > 0) return ok(Object.fromEntries(pairs.map(({ key, value }) => [key, value])));
      if (!isText(authHeaderKey)) return missing('authHeaders');
      return isText(authHeaderValue) ? ok({ [authHeaderKey]: authHeaderValue }) : missing('authHeaderValue');
    }
    default: {
      const reason =
        'it must be bearer, basic, authheaders or none; for OAuth leave it out and run `assay auth NAME`';
      return err({ field: 'authType', reason });
    }
  }
}

/** Members that a copy of what GET shows has are left to the check of copies. */
function omitIgnored(
  members: JsonObject,
  { isIgnored, current }: Ignoring & { readonly current: JsonObject },
  report: Report,
): JsonObject {
  const isOfCopy = isCopy(members, current);
  const kept = Object.entries(members).filter(([name, value]) => {
    if (!isIgnored(name) || (isOfCopy && Object.hasOwn(current, name))) return true;
    warn(pointerTo([name], report), value, report);
    return false;
  });
  return Object.fromEntries(kept);
}

function refuse(name: string, reason: string, report: Report): void {
  report.fieldErrors.push({ at: pointerTo([name], report), kind: 'invalid', reason });
}

function warn(pointer: string, value: unknown, { warnings }: Report): void {
  if (!isEmpty(value) && warnings.length < MAX_WARNINGS)
    warnings.push({ pointer, detail: 'Assay has no such field; it was ignored', code: 'ignored' });
}

function toCamelCase(key: string): string {
  return key.replace(/(?<=[^_])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function isText(text: string | null | undefined): text is string {
  return text !== undefined && text !== null && text !== '';
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0) // Null was checked.
  );
}

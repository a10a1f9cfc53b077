import { isMembers, parseExactJson } from '@assay-mcp/kit/canonical-json';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { findTemplateKeys, listHeaderSecrets } from '../../../core/secrets/secret-values.ts';
import { isHeaderValue } from '../../../core/sources/http-header.ts';
import { isDotSegment, type Pattern } from '../../../core/sources/url-template.ts';
import type { BuiltInArguments } from '../built-in-tool.ts';
import type { ReadyRequest } from './call-result.ts';
import type { HttpCall } from './open-http.ts';
import {
  type BodyForm,
  encodeComponent,
  encodePathParameter,
  encodeQueryParameter,
  formatExact,
  formatHeaderParameter,
  getExactMembers,
  type NamedForm,
  type Pair,
  type ParameterForm,
  writeBody,
  type WrittenBody,
} from './write-values.ts';

/** Everything known about a tool's requests before it is called. */
export interface RequestPlan {
  readonly method: string;
  readonly origin: string;
  readonly shownUrl: string;
  /** Its names are those of the path parameters. */
  readonly path: Pattern;
  /** The query of the URL; its names are those of arguments with a slot in `template`. */
  readonly query: readonly Pattern[];
  /** An argument may have several. */
  readonly slots: readonly Slot[];
  /** Where all other arguments go. Undefined if nowhere. */
  readonly others?: OtherArguments | undefined;
  readonly body?: BodyPlan | undefined;
  /** Headers that arguments and the operator may replace. */
  readonly defaults: HttpCall['headers'];
  /** The operator's headers. */
  readonly headers: HttpCall['headers'];
  readonly secrets: readonly Secret[];
}

export interface Slot {
  readonly argument: string;
  readonly parameter: NamedForm & { readonly location: ParameterLocation | 'template' | 'body' };
}

export type ParameterLocation = 'path' | 'query' | 'header' | 'cookie';

interface OtherArguments {
  readonly location: 'query' | 'body';
  readonly form: ParameterForm;
  /** Query parameters that they must not set. */
  readonly taken?: ReadonlySet<string>;
}

interface BodyPlan extends BodyForm {
  readonly isRequired: boolean;
  /** The argument that is the whole body; otherwise it is an object of the arguments with a slot in it. */
  readonly argument?: string | undefined;
}

/** A secret and its location in a request. */
export interface Secret {
  readonly location: 'header' | 'query' | 'cookie';
  readonly name: string;
  readonly value: string;
}

/** Arguments of a call, with each number as the client wrote it: a double cannot hold every number. */
type ExactArguments = ReadonlyMap<string, unknown>;

/** The request of a call. The error is a sentence for the model that names the argument but not its value. */
export function buildRequest(plan: RequestPlan, args: BuiltInArguments): Result<ReadyRequest, string> {
  const read = parseExactJson(args.text, 'notation')?.value;
  const given: ExactArguments = new Map(Object.entries(isMembers(read) ? read : args.values));
  const others = listOtherSlots(plan, given);
  const placed: Placed = { path: [], template: [], query: [], header: [], cookie: [], body: [] };
  for (const { argument, parameter } of [...plan.slots, ...others]) {
    const value = given.get(argument);
    const fault = findValueFault(value, parameter);
    if (fault !== undefined) return err(formatFault(argument, fault));
    const isSent = parameter.location === 'body' ? value !== undefined : !isAbsent(value);
    if (isSent) placed[parameter.location].push({ name: parameter.name, form: parameter.form, value });
  }
  const taken = others.find(({ argument }) => plan.others?.taken?.has(argument));
  if (taken !== undefined)
    return err(formatFault(taken.argument, 'would set a query parameter that this tool sets itself'));
  const url = buildUrl(plan, placed, given);
  if (!url.ok) return url;
  const written = buildBody(plan, placed, given);
  if (!written.ok) return written;
  const headers = buildHeaders(plan, placed, written.value);
  if (!headers.ok) return headers;
  return ok({
    method: plan.method,
    url: url.value,
    shownUrl: plan.shownUrl,
    headers: headers.value,
    secretHeaders: listSecretHeaders(plan),
    ...(written.value !== undefined && { body: written.value.body }),
  });
}

/** All credentials that the requests carry; `url` is the URL with its placeholders. */
export function listRequestSecrets(
  { headers, secrets }: Pick<RequestPlan, 'headers' | 'secrets'>,
  url: string,
): readonly string[] {
  const fixed = headers.filter(([name]) => !HARMLESS.has(name.toLowerCase())).map(([, value]) => value);
  const all = [...fixed, ...secrets.map(({ value }) => value)].flatMap(listHeaderSecrets);
  return [...all, ...findTemplateKeys(url)];
}

function listSecretHeaders({ headers, slots, secrets }: RequestPlan): readonly string[] {
  const placed = [...slots.map(({ parameter }) => parameter), ...secrets];
  const names = placed.flatMap(({ location, name }) => (location === 'header' ? [name] : []));
  return [...headers.map(([name]) => name), ...names].filter((name) => !HARMLESS.has(name.toLowerCase()));
}

/** Headers that hold no secret; any other header may. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'accept-language', 'cache-control', 'content-type', 'user-agent'],
]);

/** The arguments to send, by where they go. */
type Placed = Readonly<Record<Slot['parameter']['location'], (NamedForm & { readonly value: unknown })[]>>;

/** A slot for each argument that has none. */
function listOtherSlots({ slots, others, body }: RequestPlan, given: ExactArguments): readonly Slot[] {
  if (others === undefined) return [];
  const known = new Set([body?.argument, ...slots.map(({ argument }) => argument)]);
  const { location, form } = others;
  return [...given.keys()].flatMap((name) =>
    known.has(name) ? [] : [{ argument: name, parameter: { name, location, form } }],
  );
}

function formatFault(argument: string, phrase: string): string {
  return `The argument ${JSON.stringify(argument)} ${phrase}. Nothing was sent.`;
}

/** A phrase: why a value cannot be sent where its slot is. */
function findValueFault(value: unknown, { name, location, form }: Slot['parameter']): string | undefined {
  const { style } = form;
  const isText = style === 'text' || style === 'texts';
  if (location === 'body' && !isText) return undefined;
  if (!isWellFormed(value)) return 'contains an incomplete character (a lone surrogate)';
  if (location === 'query' && !name.isWellFormed())
    return 'has a name with an incomplete character (a lone surrogate)';
  if (isAbsent(value))
    return location === 'path' ? 'is missing, and a path segment cannot be empty' : undefined;
  if (Array.isArray(value) && style === 'texts') {
    if (!value.every(isScalar)) return 'contains an object, a list, or something that is not text';
  } else if (isText && !isScalar(value)) return 'is an object or a list, which is not possible there';
  if (location === 'path') {
    if (hasDots(value)) return 'contains "." or "..", which would change the path';
    const text = encodePathParameter({ name, form }, value);
    if (text === '' || text === '.') return 'is empty, and a path segment cannot be empty';
  }
  if (location === 'header' && !isHeaderValue(formatHeaderParameter({ name, form }, value)))
    return 'contains a line break or a character that is not allowed in a header';
  return undefined;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isScalar(value: unknown): boolean {
  return !Array.isArray(value) && getExactMembers(value) === undefined;
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  return getExactMembers(value)?.flat().every(isWellFormed) ?? true;
}

/** Counts dots next to an encoded separator too: some servers decode before they check (RFC 3986, section 5.2.4). */
function hasDots(value: unknown): boolean {
  if (typeof value !== 'string') return Array.isArray(value) && value.some(hasDots);
  return value.split(/[/\\]/).some(isDotSegment);
}

function buildUrl(plan: RequestPlan, placed: Placed, given: ExactArguments): Result<URL, string> {
  const inPath = new Map(placed.path.map((one) => [one.name, encodePathParameter(one, one.value)]));
  const path = fill(plan.path, (name) => inPath.get(name) ?? '');
  const pairs = [
    ...placed.query.flatMap((one) => encodeQueryParameter(one, one.value)),
    ...secretPairs(plan, 'query'),
  ].map((pair) => pair.join('='));
  const query = [...plan.query.flatMap((pattern) => fillQuery(pattern, given)), ...pairs].join('&');
  const url = new URL(`${plan.origin}${path}${query === '' ? '' : `?${query}`}`);
  // Final check: path and origin must be what the plan says.
  const isSame = url.pathname === path && url.origin === plan.origin && !path.split('/').some(isDotSegment);
  return isSame ? ok(url) : err('The arguments would change the path of the request, which was not sent.');
}

function fill({ texts, names }: Pattern, valueOf: (name: string) => string): string {
  return texts
    .map((text, index) => text + (index < names.length ? valueOf(names[index] ?? '') : ''))
    .join('');
}

/** Empty if an argument is missing; several parts if the only argument is a list. */
function fillQuery(pattern: Pattern, given: ExactArguments): readonly string[] {
  const [first = '', ...more] = pattern.names;
  if (pattern.names.some((name) => isAbsent(given.get(name)))) return [];
  const encode = (value: unknown): string => encodeComponent(formatExact(value));
  const value = given.get(first);
  const items: readonly unknown[] = more.length === 0 && Array.isArray(value) ? value : [value];
  return items
    .filter((item) => item !== null)
    .map((item) => fill(pattern, (name) => encode(name === first ? item : given.get(name))));
}

function secretPairs({ secrets }: RequestPlan, wanted: Secret['location']): readonly Pair[] {
  return secrets.flatMap(({ location, name, value }): readonly Pair[] =>
    location === wanted ? [[encodeComponent(name), encodeComponent(value)]] : [],
  );
}

function buildBody(
  { body }: RequestPlan,
  placed: Placed,
  given: ExactArguments,
): Result<WrittenBody | undefined, string> {
  if (body === undefined) return ok(undefined);
  const members = placed.body;
  const whole = body.argument === undefined ? undefined : given.get(body.argument);
  const isEmpty = whole === undefined && members.length === 0;
  if (isEmpty && !body.isRequired) return ok(undefined);
  const object = Object.fromEntries(members.map(({ name, value }) => [name, value]));
  return writeBody(whole === undefined ? object : whole, body);
}

/** A later header replaces an earlier one: secrets rank first, then the operator's headers. */
function buildHeaders(
  plan: RequestPlan,
  placed: Placed,
  body: WrittenBody | undefined,
): Result<HttpCall['headers'], string> {
  const headers = new Map<string, readonly [string, string]>();
  const put = (name: string, value: string): void => void headers.set(name.toLowerCase(), [name, value]);
  for (const [name, value] of plan.defaults) put(name, value);
  if (body !== undefined) put('content-type', body.contentType);
  for (const one of placed.header) put(one.name, formatHeaderParameter(one, one.value));
  for (const [name, value] of plan.headers) put(name, value);
  const cookies = [
    ...placed.cookie.flatMap((one) => encodeQueryParameter(one, one.value)),
    ...secretPairs(plan, 'cookie'),
  ].map((pair) => pair.join('='));
  const before = headers.get('cookie')?.[1] ?? [];
  if (cookies.length > 0) put('Cookie', [before, cookies].flat().join('; '));
  for (const { location, name, value } of plan.secrets) {
    if (location !== 'header') continue;
    if (!isHeaderValue(value))
      return err(
        `The credential for the header ${JSON.stringify(name)} contains a character that is not allowed in a header.`,
      );
    put(name, value);
  }
  return ok([...headers.values()]);
}

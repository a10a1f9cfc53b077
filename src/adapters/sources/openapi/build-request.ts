import { err, ok, type Result } from '../../../core/result.ts';
import { isHeaderValue } from '../../../core/sources/http-header.ts';
import { isDotSegment } from '../../../core/sources/url-template.ts';
import type { ReadyRequest } from '../http/call-result.ts';
import type { HttpCall } from '../http/open-http.ts';
import { formatAddress } from '../http/request-secrets.ts';
import type { ArgumentPlan, BodyArguments, Slot } from './argument-plan.ts';
import {
  encodeComponent,
  parseExactArguments,
  type ExactArguments,
  getExactMembers,
  formatHeaderParameter,
  encodePathParameter,
  encodeQueryParameter,
  type Pair,
  writeBody,
  type WrittenBody,
} from './write-values.ts';
import type { RequestBody } from './parameters.ts';
import type { Secret } from './servers-and-security.ts';

/** Everything known about a tool's requests before it is called. */
export interface RequestPlan {
  readonly method: string;
  readonly server: URL;
  /** Path template. */
  readonly path: string;
  readonly shownUrl: string;
  readonly arguments: ArgumentPlan;
  readonly body: RequestBody | undefined;
  readonly binaries: ReadonlySet<string>;
  readonly accept: string;
  /** The operator's headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly Secret[];
}

/** The request for arguments in JSON. The error is a sentence for the model that names the argument. */
export function buildRequest(plan: RequestPlan, text: string): Result<ReadyRequest, string> {
  const given = parseExactArguments(text);
  const half = plan.arguments.slots.find(({ argument }) => !isWellFormed(given.get(argument)));
  if (half !== undefined)
    return err(
      `The argument ${JSON.stringify(half.argument)} contains an incomplete character (a lone surrogate). Nothing was sent.`,
    );
  const url = urlOf(plan, given);
  if (!url.ok) return url;
  const written = bodyOf(plan, given);
  if (!written.ok) return written;
  const headers = headersOf(plan, given, written.value);
  if (!headers.ok) return headers;
  const named = plan.secrets.filter(({ location }) => location === 'header').map(({ name }) => name);
  return ok({
    method: plan.method,
    url: url.value,
    shownUrl: plan.shownUrl,
    headers: headers.value,
    secretHeaders: [...Object.keys(plan.headers), ...named],
    ...(written.value !== undefined && { body: written.value.body }),
  });
}

/** How messages name the URL of its requests. */
export function formatRequestUrl({ server, path }: Pick<RequestPlan, 'server' | 'path'>): string {
  const [template = ''] = path.split(/[?#]/);
  return formatAddress(server.origin, server.pathname.replace(/\/+$/, '') + template);
}

function urlOf(plan: RequestPlan, given: ExactArguments): Result<URL, string> {
  const { server, path } = plan;
  const [template = '', literalQuery = ''] = (path.split('#')[0] ?? '').split(/\?(.*)/s);
  const filled = fillPath(plan, template, given);
  if (!filled.ok) return filled;
  const pathname = server.pathname.replace(/\/+$/, '') + filled.value;
  const pairs = [
    ...slotsIn(plan, 'query').flatMap(({ argument, parameter }) => {
      const value = given.get(argument);
      return isAbsent(value) ? [] : encodeQueryParameter(parameter, value);
    }),
    ...plan.secrets.flatMap(({ location, name, value }): readonly Pair[] =>
      location === 'query' ? [[encodeComponent(name), encodeComponent(value)]] : [],
    ),
  ];
  const query = [server.search.slice(1), literalQuery, ...pairs.map((pair) => pair.join('='))];
  const url = new URL(server);
  url.pathname = pathname;
  url.search = query.filter((part) => part !== '').join('&');
  // Final check: path and origin must be what the template says.
  const isSame = url.pathname === pathname && url.origin === server.origin;
  return isSame ? ok(url) : err('The arguments would change the path of the request, which was not sent.');
}

function fillPath(plan: RequestPlan, template: string, given: ExactArguments): Result<string, string> {
  const byName = new Map(slotsIn(plan, 'path').map((slot) => [slot.parameter.name, slot]));
  const texts = new Map<string, string>();
  for (const [name, { argument, parameter }] of byName) {
    const value = given.get(argument);
    const text = isAbsent(value) ? '' : encodePathParameter(parameter, value);
    const shown = JSON.stringify(argument);
    if (text === '' || text === '.')
      return err(
        `The argument ${shown} is empty, which would change the path of the request. Nothing was sent.`,
      );
    if (hasDots(value)) return err(dotted(shown));
    texts.set(name, text);
  }
  const filled = template.replace(/\{([^{}]+)\}|[^{}]+|[{}]/g, (part, name?: string) =>
    name === undefined ? literal(part) : (texts.get(name) ?? literal(part)),
  );
  const bad = filled.split('/').find((segment) => segment === '.' || segment === '..');
  if (bad === undefined) return ok(filled);
  const names = [...byName.values()].map(({ argument }) => JSON.stringify(argument));
  return err(names.length === 0 ? dotted('path') : dotted(names.join(', ')));
}

function dotted(argument: string): string {
  return `The argument ${argument} contains a "." or ".." path segment, which would change the path of the request. Nothing was sent.`;
}

/** Counts dots next to an encoded separator too: some servers decode before they check. */
function hasDots(value: unknown): boolean {
  if (typeof value !== 'string') return Array.isArray(value) && value.some(hasDots);
  return value.split(/[/\\]/).some(isDotSegment);
}

/** The literal text of a path, with characters encoded that a path may not hold. */
function literal(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/gu, (one) =>
    one.length === 3 && one.startsWith('%') ? one : encodeComponent(one),
  );
}

function bodyOf(plan: RequestPlan, given: ExactArguments): Result<WrittenBody | undefined, string> {
  const { body, binaries } = plan;
  if (body === undefined) return ok(undefined);
  const value = bodyValue(plan.arguments, given);
  if (value === undefined && !body.isRequired) return ok(undefined);
  return writeBody(value === undefined ? {} : value, { body, binaries });
}

/** Undefined if no argument belongs to the body. */
function bodyValue({ body, slots }: ArgumentPlan, given: ExactArguments): unknown {
  if (body.kind === 'none') return undefined;
  if (body.kind === 'whole') return given.get(body.argument);
  const members = membersOf(body, given);
  const others = body.takesOthers ? othersIn(body, slots, given) : [];
  const all = [...members, ...others];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

type Members = Extract<BodyArguments, { readonly kind: 'members' }>;

function membersOf({ members }: Members, given: ExactArguments): readonly (readonly [string, unknown])[] {
  return members.flatMap(({ argument, property }) =>
    given.has(argument) ? [[property, given.get(argument)] as const] : [],
  );
}

function othersIn(
  { members }: Members,
  slots: readonly Slot[],
  given: ExactArguments,
): readonly (readonly [string, unknown])[] {
  const known = new Set([...members, ...slots].map(({ argument }) => argument));
  return [...given].filter(([argument]) => !known.has(argument));
}

/** A later header replaces an earlier one: secrets rank first, then the operator's headers. */
function headersOf(
  plan: RequestPlan,
  given: ExactArguments,
  body: WrittenBody | undefined,
): Result<HttpCall['headers'], string> {
  const headers = new Map<string, readonly [string, string]>();
  const put = (name: string, value: string): void => void headers.set(name.toLowerCase(), [name, value]);
  put('Accept', plan.accept);
  for (const { argument, parameter } of slotsIn(plan, 'header')) {
    const value = given.get(argument);
    if (isAbsent(value)) continue;
    const text = formatHeaderParameter(parameter, value);
    if (!isHeaderValue(text))
      return err(
        `The argument ${JSON.stringify(argument)} contains a character that is not allowed in a header. Nothing was sent.`,
      );
    put(parameter.name, text);
  }
  for (const [name, value] of Object.entries(plan.headers)) put(name, value);
  if (body !== undefined) put('Content-Type', body.contentType);
  const cookies = cookiesOf(plan, given);
  const before = headers.get('cookie')?.[1];
  if (cookies !== '') put('Cookie', before === undefined ? cookies : `${before}; ${cookies}`);
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

function cookiesOf(plan: RequestPlan, given: ExactArguments): string {
  const pairs = slotsIn(plan, 'cookie').flatMap(({ argument, parameter }) => {
    const value = given.get(argument);
    return isAbsent(value) ? [] : encodeQueryParameter(parameter, value);
  });
  const secrets = plan.secrets.flatMap(({ location, name, value }): readonly Pair[] =>
    location === 'cookie' ? [[encodeComponent(name), encodeComponent(value)]] : [],
  );
  return [...pairs, ...secrets].map((pair) => pair.join('=')).join('; ');
}

function slotsIn(plan: RequestPlan, location: Slot['parameter']['location']): readonly Slot[] {
  return plan.arguments.slots.filter(({ parameter }) => parameter.location === location);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  return getExactMembers(value)?.flat().every(isWellFormed) ?? true;
}

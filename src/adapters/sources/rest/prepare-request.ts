import { OWN_INFO } from '../../../core/version.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { isHeaderValue } from '../../../core/sources/http-header.ts';
import {
  isDotSegment,
  encodePathValue,
  type Pattern,
  readUrlTemplate,
  type UrlTemplate,
} from '../../../core/sources/url-template.ts';
import type { RestAuth, RestToolSpec } from '../../../core/sources/custom-tools.ts';
import type { ReadyRequest } from '../http/call-result.ts';
import type { HttpCall } from '../http/open-http.ts';
import { findTemplateKeys, listHeaderSecrets } from '../../../core/secrets/secret-values.ts';
import { formatAddress } from '../http/request-secrets.ts';
import type { BuiltInArguments } from '../built-in-tool.ts';
import { readWrittenArguments, type WrittenArguments } from '../written-arguments.ts';

/** Makes the request of a call. The error is a sentence that names the argument but not its value. */
export type PrepareRequest = (args: BuiltInArguments) => Result<ReadyRequest, string>;

/** Prepares once whatever does not depend on the arguments. The error is a sentence. */
export function prepareRequest(spec: RestToolSpec): Result<PrepareRequest, string> {
  const template = readUrlTemplate(spec.url);
  if (!template.ok) return template;
  const plan = planOf(spec, template.value);
  // Parsing takes longer than all else here, and most tools that send a body always send it to the same URL.
  let lastAddress = '';
  let lastUrl: URL | undefined;
  return ok((args) => {
    const written = readWrittenArguments(args);
    const path = pathOf(plan, written);
    if (!path.ok) return path;
    const query = queryOf(plan, written, args.values);
    if (!query.ok) return query;
    const headers = headersOf(plan, written);
    if (!headers.ok) return headers;
    const body = bodyOf(plan, written, args.values);
    if (!body.ok) return body;
    const address = plan.template.origin + path.value + (query.value === '' ? '' : `?${query.value}`);
    const url = lastUrl !== undefined && address === lastAddress ? lastUrl : new URL(address);
    lastAddress = address;
    lastUrl = url;
    // Guards against a change in URL parsing: the parsed path must be the path that was checked.
    if (url.pathname !== path.value) return err('The arguments would change the path of the URL.');
    const { method } = spec;
    const { secretHeaders, shownUrl } = plan;
    return ok({ method, url, shownUrl, headers: headers.value, body: body.value, secretHeaders });
  });
}

interface Plan {
  readonly spec: RestToolSpec;
  readonly template: UrlTemplate;
  readonly hasBody: boolean;
  /** Arguments that the URL template or a mapping uses; the rest go into the query or body. */
  readonly used: ReadonlySet<string>;
  readonly queryMapping: readonly (readonly [argument: string, parameter: string])[];
  readonly headerMapping: readonly (readonly [argument: string, header: string])[];
  /** Query parameters that no other argument may set. */
  readonly taken: ReadonlySet<string>;
  /** The auth's query parameter, encoded; empty if there is none. */
  readonly lastQuery: string;
  readonly headers: HttpCall['headers'];
  readonly secretHeaders: readonly string[];
  readonly shownUrl: string;
}

const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

function planOf(spec: RestToolSpec, template: UrlTemplate): Plan {
  const queryMapping = Object.entries(spec.queryMapping);
  const headerMapping = Object.entries(spec.headerMapping);
  const { auth } = spec;
  const isInQuery = auth?.kind === 'query';
  const headers = fixedHeaders(spec);
  return {
    spec,
    template,
    hasBody: WITH_BODY.has(spec.method),
    used: new Set([
      ...template.pathArguments,
      ...template.queryArguments,
      ...[...queryMapping, ...headerMapping].map(([argument]) => argument),
    ]),
    queryMapping,
    headerMapping,
    taken: new Set([
      ...template.query.map(({ name }) => name),
      ...queryMapping.map(([, parameter]) => parameter),
      ...(isInQuery ? [auth.name] : []),
    ]),
    lastQuery: isInQuery ? pair(auth.name, auth.value) : '',
    headers,
    secretHeaders: [...headers, ...headerMapping.map(([, name]) => [name] as const)]
      .map(([name]) => name.toLowerCase())
      .filter((name) => !HARMLESS.has(name)),
    shownUrl: formatAddress(template.origin, pathIn(spec.url)),
  };
}

/** All credentials that the tool's requests carry. */
export function listRestSecrets({ auth, headers, url }: RestToolSpec): readonly string[] {
  const fixed = Object.entries(headers).filter(([name]) => !HARMLESS.has(name.toLowerCase()));
  const inQuery = auth?.kind === 'query' ? [auth.value] : [];
  const all = [...fixed, ...authHeaders(auth)].flatMap(([, value]) => listHeaderSecrets(value));
  return [...all, ...inQuery, ...findTemplateKeys(url)];
}

/** The path as the operator wrote it. */
function pathIn(url: string): string {
  const [, path = ''] = /^\w+:\/\/[^/?#]+([^?#]*)/.exec(url) ?? [];
  return path === '' ? '/' : path;
}

/** Headers that hold no secret; any other header may. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'accept-language', 'cache-control', 'content-type', 'user-agent'],
]);

function fixedHeaders(spec: RestToolSpec): HttpCall['headers'] {
  const given = Object.entries(spec.headers);
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  const mapped = new Set(Object.values(spec.headerMapping).map((name) => name.toLowerCase()));
  const type = spec.bodyType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  const usual = [
    ['accept', 'application/json, */*;q=0.8'],
    ['user-agent', `${OWN_INFO.name}/${OWN_INFO.version}`],
    ...(WITH_BODY.has(spec.method) ? [['content-type', type] as const] : []),
  ] as const;
  const missing = usual.filter(([name]) => !names.has(name) && !mapped.has(name));
  return [...missing, ...given, ...authHeaders(spec.auth)];
}

function authHeaders(auth: RestAuth | undefined): HttpCall['headers'] {
  switch (auth?.kind) {
    case 'bearer':
      return [['authorization', `Bearer ${auth.token}`]];
    case 'basic':
      // RFC 7617, section 2.1: in UTF-8.
      return [
        ['authorization', `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`],
      ];
    case 'header':
      return [[auth.name, auth.value]];
    case 'query':
    case undefined:
      return [];
  }
}

function pathOf({ template }: Plan, written: WrittenArguments): Result<string, string> {
  let path = '';
  for (const { texts, names } of template.path) {
    let segment = texts[0] ?? '';
    for (const [index, name] of names.entries()) {
      const text = written.textOf(name);
      if (!text.ok) return err(faultOf(name, text.error));
      if (text.value === undefined)
        return err(faultOf(name, 'is missing, and a path segment cannot be empty'));
      const value = encodePathValue(text.value);
      if (!value.ok) return err(faultOf(name, value.error));
      segment += value.value + (texts[index + 1] ?? '');
    }
    if (names[0] !== undefined && isDotSegment(segment))
      return err(faultOf(names[0], 'would change the path of the URL'));
    path += `/${segment}`;
  }
  return ok(path);
}

function queryOf(
  { template, hasBody, used, queryMapping, taken, lastQuery }: Plan,
  written: WrittenArguments,
  values: BuiltInArguments['values'],
): Result<string, string> {
  const pairs: string[] = [];
  for (const { pattern } of template.query) {
    const part = queryPart(pattern, written);
    if (!part.ok) return part;
    pairs.push(...part.value);
  }
  const rest = hasBody ? [] : Object.keys(values).filter((name) => !used.has(name));
  const clash = rest.find((name) => taken.has(name));
  if (clash !== undefined)
    return err(faultOf(clash, 'would set a query parameter that this tool sets itself'));
  for (const [name, parameter] of [...queryMapping, ...rest.map((name) => [name, name] as const)]) {
    const texts = written.textsOf(name);
    if (!texts.ok) return err(faultOf(name, texts.error));
    if (!parameter.isWellFormed())
      return err(faultOf(name, 'has a name with an incomplete character (a lone surrogate)'));
    for (const text of texts.value) pairs.push(pair(parameter, text));
  }
  if (lastQuery !== '') pairs.push(lastQuery);
  return ok(pairs.join('&'));
}

/** Empty if an argument is missing; several parts if the argument is a list. */
function queryPart({ texts, names }: Pattern, written: WrittenArguments): Result<readonly string[], string> {
  const [start = '', end = ''] = texts;
  const [only, ...others] = names;
  if (only === undefined) return ok([start]);
  if (others.length === 0) {
    const all = written.textsOf(only);
    if (!all.ok) return err(faultOf(only, all.error));
    return ok(all.value.map((text) => start + encodeURIComponent(text) + end));
  }
  let part = start;
  for (const [index, name] of names.entries()) {
    const text = written.textOf(name);
    if (!text.ok) return err(faultOf(name, text.error));
    if (text.value === undefined) return ok([]);
    part += encodeURIComponent(text.value) + (texts[index + 1] ?? '');
  }
  return ok([part]);
}

function pair(name: string, text: string): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
}

function headersOf(
  { headers, headerMapping }: Plan,
  written: WrittenArguments,
): Result<HttpCall['headers'], string> {
  if (headerMapping.length === 0) return ok(headers);
  const all = [...headers];
  for (const [name, header] of headerMapping) {
    const text = written.textOf(name);
    if (!text.ok) return err(faultOf(name, text.error));
    if (text.value === undefined) continue;
    if (!isHeaderValue(text.value))
      return err(faultOf(name, 'contains a line break or a character that is not allowed in a header'));
    all.push([header, text.value]);
  }
  return ok(all);
}

function bodyOf(
  { spec, hasBody, used }: Plan,
  written: WrittenArguments,
  values: BuiltInArguments['values'],
): Result<string | undefined, string> {
  if (!hasBody) return ok(undefined);
  if (spec.bodyType === 'json') return ok(written.without(used));
  const form = new URLSearchParams();
  for (const name of Object.keys(values)) {
    if (used.has(name)) continue;
    const texts = written.textsOf(name);
    if (!texts.ok) return err(faultOf(name, texts.error));
    for (const text of texts.value) form.append(name, text);
  }
  return ok(form.toString());
}

function faultOf(name: string, phrase: string): string {
  return `The argument ${JSON.stringify(name)} ${phrase}.`;
}

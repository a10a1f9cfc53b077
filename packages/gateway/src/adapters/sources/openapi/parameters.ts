import { isMembers } from '@assay-mcp/kit/canonical-json';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { findMappedHeaderFault } from '../../../core/sources/http-header.ts';
import type { ParameterLocation } from '../http/request-plan.ts';
import type { BodyForm, BodyKind, NamedForm, ParameterForm, ParameterStyle } from '../http/write-values.ts';
import { type Documents, type Located, findMemberAt } from './documents.ts';
import type { Operation } from './operations.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

/** One parameter of an operation (OpenAPI 3.1.1, section 4.8.12). */
export interface Parameter extends NamedForm {
  readonly location: ParameterLocation;
  readonly isRequired: boolean;
  readonly schema: Located | undefined;
  readonly description?: string | undefined;
  readonly isDeprecated: boolean;
  readonly example?: unknown;
}

const STYLES: Readonly<Record<ParameterLocation, readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

/** Besides Authorization, headers that are declared elsewhere (3.1.1, section 4.8.12.2.1). */
const DECLARED_ELSEWHERE = new Set(['accept', 'content-type']);

/** Parameters of an operation and of its path. The error is a phrase: why the operation cannot be called. */
export function readParameters(
  operation: Operation,
  documents: Documents,
): Result<readonly Parameter[], string> {
  const byLocation = new Map<string, Parameter>();
  for (const owner of [operation.item, operation.located]) {
    const list = findMemberAt(owner, 'parameters')?.value;
    if (list !== undefined && !Array.isArray(list)) return err('its parameters are not a list');
    for (const value of (list ?? []) as readonly unknown[]) {
      const read = readParameter({ value, at: owner.at }, documents);
      if (!read.ok) return read;
      byLocation.set(`${read.value.location} ${read.value.name}`, read.value);
    }
  }
  const inPath = placeholdersOf(operation.path);
  const declared = [...byLocation.values()].filter(({ name, location }) => {
    if (location === 'path') return inPath.includes(name);
    return (
      location !== 'header' || !(DECLARED_ELSEWHERE.has(name.toLowerCase()) || findMappedHeaderFault(name))
    );
  });
  const missing = inPath.filter((name) => !byLocation.has(`path ${name}`));
  return ok([...missing.map((name) => undeclared(name, operation)), ...declared]);
}

/** Names in braces, each once. */
function placeholdersOf(path: string): readonly string[] {
  return [...new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name))];
}

/** The error is a phrase. */
function readParameter(located: Located, documents: Documents): Result<Parameter, string> {
  const end = documents.follow(located);
  if (!end.ok) return end;
  const { value } = end.value;
  if (!isMembers(value) || typeof value['name'] !== 'string') return err('one of its parameters has no name');
  const { name, in: location, required, description, deprecated, example } = value;
  const named = `its parameter ${JSON.stringify(name)}`;
  if (!isLocation(location)) return err(`${named} is in ${shownLocation(location)}, which is not supported`);
  const form = formOf(value, location);
  if (form === undefined)
    return err(`${named} has the style ${JSON.stringify(value['style'])}, which a ${location} has not`);
  return ok({
    name,
    location,
    isRequired: location === 'path' || required === true,
    form,
    schema: form.style === 'json' ? contentSchema(end.value) : findMemberAt(end.value, 'schema'),
    description: typeof description === 'string' && description.trim() !== '' ? description : undefined,
    isDeprecated: deprecated === true,
    example,
  });
}

/** A placeholder of the path that the document does not declare. */
function undeclared(name: string, { located }: Operation): Parameter {
  return {
    name,
    location: 'path',
    isRequired: true,
    form: { style: 'simple', explode: false, allowReserved: false },
    schema: { value: { type: 'string' }, at: located.at },
    isDeprecated: false,
  };
}

function shownLocation(location: unknown): string {
  return typeof location === 'string' ? JSON.stringify(truncateText(location, 40)) : 'no place';
}

function isLocation(location: unknown): location is ParameterLocation {
  return typeof location === 'string' && Object.hasOwn(STYLES, location);
}

/** Undefined if the location does not support the style. */
function formOf(
  value: Readonly<Record<string, unknown>>,
  location: ParameterLocation,
): ParameterForm | undefined {
  const [usual = 'simple'] = STYLES[location];
  const style = value['style'] === undefined ? usual : STYLES[location].find((one) => one === value['style']);
  if (style === undefined) return undefined;
  const { explode, allowReserved, content } = value;
  return {
    style: isMembers(content) ? 'json' : style,
    explode: typeof explode === 'boolean' ? explode : style === 'form',
    allowReserved: allowReserved === true && location === 'query',
  };
}

function contentSchema(parameter: Located): Located | undefined {
  const content = findMemberAt(parameter, 'content');
  const [first] = isMembers(content?.value) ? Object.keys(content.value) : [];
  const media = content !== undefined && first !== undefined ? findMemberAt(content, first) : undefined;
  return media === undefined ? undefined : findMemberAt(media, 'schema');
}

/** The request body of an operation. */
export interface RequestBody extends Omit<BodyForm, 'binaries'> {
  readonly isRequired: boolean;
  readonly schema: Located | undefined;
  readonly description?: string | undefined;
}

/** Media types that Assay can write, by preference. */
const KINDS: readonly (readonly [BodyKind, RegExp, string])[] = [
  ['json', /^application\/json$/, 'application/json'],
  ['json', /^[^/]+\/[^/]+\+json$/, ''],
  ['form', /^application\/x-www-form-urlencoded$/, ''],
  ['multipart', /^multipart\/form-data$/, ''],
  ['json', /^(\*|application)\/\*$/, 'application/json'],
  ['text', /^text\/(?!\*)[^/]+$/, ''],
  ['text', /^text\/\*$/, 'text/plain'],
  ['text', /^(application\/xml|[^/]+\/[^/]+\+xml)$/, ''],
  ['bytes', /^[\w.+-]+\/[\w.+-]+$/, ''],
];

/** For these methods a body has no meaning (RFC 9110, section 9.3.1); the specification says to ignore it. */
const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/** The error is a phrase: why the operation cannot be called. */
export function readRequestBody(
  operation: Operation,
  documents: Documents,
): Result<RequestBody | undefined, string> {
  const declared = findMemberAt(operation.located, 'requestBody');
  if (declared === undefined || WITHOUT_BODY.has(operation.method)) return ok(undefined);
  const end = documents.follow(declared);
  if (!end.ok) return end;
  const { value: body } = end.value;
  const content = findMemberAt(end.value, 'content');
  if (!isMembers(body) || content === undefined || !isMembers(content.value))
    return err('its body has no content');
  const types = Object.keys(content.value);
  if (types.length === 0) return ok(undefined);
  for (const [kind, pattern, sent] of KINDS) {
    const type = types.find((one) => pattern.test(normalizeMediaType(one)));
    const media = type === undefined ? undefined : findMemberAt(content, type);
    if (type === undefined || media === undefined) continue;
    const { description, required } = body;
    const encoding = findMemberAt(media, 'encoding')?.value;
    return ok({
      kind,
      mediaType: sent === '' || (kind === 'json' && normalizeMediaType(type) === sent) ? type.trim() : sent,
      isRequired: required === true,
      schema: findMemberAt(media, 'schema'),
      description: typeof description === 'string' && description.trim() !== '' ? description : undefined,
      encoding: isMembers(encoding) ? encoding : {},
    });
  }
  return err(`its body is ${types.join(' or ')}, which is not supported`);
}

/** Without parameters, in lower case. */
export function normalizeMediaType(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}

import { HINTS, isContradiction, declaredHints, type DeclaredHints } from '../hints/hint.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import {
  addFault,
  type Fault,
  fitTextAt,
  flagAt,
  isGiven,
  memberAt,
  membersAt,
  type JsonPosition,
  textIfGiven,
} from '../json-position.ts';
import { reportUnknown, wholeNumber } from '../json-reader.ts';
import { err, ok, type Result } from '../result.ts';
import { headerNameFault, headerValueFault, mappedHeaderFault } from './http-header.ts';
import { readRestAuth } from './read-rest-auth.ts';
import type { RestAuth, RestToolSpec } from './custom-tools.ts';
import { readUrlTemplate, type UrlTemplate } from './url-template.ts';
import { MAX_TIMER_MS } from '../timer.ts';

const KNOWN: readonly string[] = [
  ...[
    'url',
    'method',
    'headers',
    'auth',
    'title',
    'description',
    'inputSchema',
    'outputSchema',
    'annotations',
  ],
  ...['queryMapping', 'headerMapping', 'bodyType', 'filter', 'timeoutMs', 'maxBytes'],
];
const NAME = /^[a-zA-Z0-9_][a-zA-Z0-9._/-]{0,127}$/;
const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
const DEFAULT_MS = 60_000;
const MIB = 2 ** 20;
const MAX_BYTES = 50 * MIB;
const MAX_FILTER_LENGTH = 4_096;

/** Reads an HTTP request that an operator exposes as a tool. Does not check whether its filter and schemas compile. */
export function readRestTool(
  name: string,
  entry: Readonly<Record<string, unknown>>,
): Result<RestToolSpec, readonly Fault[]> {
  const faults: Fault[] = [];
  const position: JsonPosition = { value: entry, pointer: '', faults };
  const at = (member: string): JsonPosition => memberAt(position, member);
  checkName(name, position);
  reportUnknown(position, KNOWN);
  const template = readUrl(at('url'));
  const method = textIfGiven(at('method'))?.toUpperCase();
  if (method !== undefined && !METHODS.includes(method))
    addFault(at('method'), `it must be one of ${METHODS.join(', ')}`);
  const auth = isGiven(at('auth')) ? readRestAuth(at('auth')) : undefined;
  const headers = readHeaders(at('headers'), auth);
  const queryMapping = readMapping(at('queryMapping'), queryFaults(template, auth));
  const headerMapping = readMapping(at('headerMapping'), headerFaults(headers, auth));
  const mapped = [...Object.keys(queryMapping), ...Object.keys(headerMapping)];
  const annotations = at('annotations');
  const annotated = textIfGiven(memberAt(annotations, 'title'));
  const spec: RestToolSpec = {
    name,
    title: textIfGiven(at('title')) ?? annotated,
    description: textIfGiven(at('description')),
    url: typeof entry['url'] === 'string' ? entry['url'] : '',
    method: method ?? 'POST',
    isMethodGiven: method !== undefined,
    headers,
    auth,
    inputSchema: readInputSchema(at('inputSchema'), template, mapped),
    outputSchema: readOutputSchema(at('outputSchema')),
    annotations: readHints(annotations),
    queryMapping,
    headerMapping,
    bodyType: readBodyType(at('bodyType')),
    filter: isGiven(at('filter')) ? fitTextAt(at('filter'), filterFault) : undefined,
    timeoutMs: readWhole(at('timeoutMs'), { max: MAX_TIMER_MS, defaultValue: DEFAULT_MS }),
    maxBytes: readWhole(at('maxBytes'), { max: MAX_BYTES, defaultValue: MIB }),
  };
  return faults.length === 0 ? ok(spec) : err(faults);
}

function checkName(name: string, position: JsonPosition): void {
  if (NAME.test(name)) return;
  addFault(
    position,
    'a name has 1 to 128 letters, digits, "_", ".", "/" or "-", and begins with a letter, a digit or "_"',
  );
}

function readUrl(position: JsonPosition): UrlTemplate | undefined {
  let template: UrlTemplate | undefined;
  fitTextAt(position, (text) => {
    const read = readUrlTemplate(text);
    if (read.ok) template = read.value;
    return read.ok ? undefined : read.error;
  });
  return template;
}

function readHeaders(position: JsonPosition, auth: RestAuth | undefined): Readonly<Record<string, string>> {
  const isFirst = firstTimes();
  return readTexts(position, (name, value) => {
    const lower = name.toLowerCase();
    if (!isFirst(lower)) return 'it occurs twice';
    if (lower === authHeader(auth)) return 'it is set by "auth" as well';
    return headerNameFault(name) ?? headerValueFault(value);
  });
}

/** In lower case. */
function authHeader(auth: RestAuth | undefined): string | undefined {
  if (auth === undefined || auth.kind === 'query') return undefined;
  return auth.kind === 'header' ? auth.name.toLowerCase() : 'authorization';
}

type MappingFault = (target: string) => string | undefined;

function queryFaults(template: UrlTemplate | undefined, auth: RestAuth | undefined): MappingFault {
  const fixed = new Set(template?.query.map(({ name }) => name));
  const isFirst = firstTimes();
  return (target) => {
    if (!isFirst(target)) return TAKEN;
    if (target === '') return 'a query parameter needs a name';
    if (auth?.kind === 'query' && auth.name === target) return 'that query parameter is set by "auth"';
    return fixed.has(target) ? 'that query parameter is set by "url"' : undefined;
  };
}

function headerFaults(headers: Readonly<Record<string, string>>, auth: RestAuth | undefined): MappingFault {
  const fixed = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const isFirst = firstTimes();
  return (target) => {
    const lower = target.toLowerCase();
    if (!isFirst(lower)) return TAKEN;
    if (lower === authHeader(auth)) return 'that header is set by "auth"';
    return fixed.has(lower) ? 'that header is set by "headers"' : mappedHeaderFault(target);
  };
}

function readMapping(position: JsonPosition, fault: MappingFault): Readonly<Record<string, string>> {
  return readTexts(position, (_, target) => fault(target));
}

const TAKEN = 'another argument is already mapped to it';

/** Returns a function that reports whether it gets a text for the first time. */
function firstTimes(): (text: string) => boolean {
  const seen = new Set<string>();
  return (text) => seen.size < seen.add(text).size;
}

function readTexts(
  position: JsonPosition,
  fault: (name: string, text: string) => string | undefined,
): Readonly<Record<string, string>> {
  const members = isGiven(position) ? membersAt(position) : [];
  return Object.fromEntries(
    members.map(([name, member]) => [name, fitTextAt(member, (text) => fault(name, text))]),
  );
}

function readHints(position: JsonPosition): DeclaredHints {
  if (!isGiven(position)) return {};
  for (const [name, member] of membersAt(position)) {
    if (HINTS.some((hint) => hint === name)) flagAt(member, false);
    else if (name !== 'title')
      addFault(member, `it is not an annotation; known annotations are ${HINTS.join(', ')}, title`);
  }
  const members = Object.fromEntries(
    membersAt({ ...position, faults: [] }).map(([name, { value }]) => [name, value]),
  );
  const declared = declaredHints(members);
  if (isContradiction(declared))
    addFault(position, 'what only reads destroys nothing: readOnlyHint and destructiveHint are both true');
  return declared;
}

function readBodyType(position: JsonPosition): RestToolSpec['bodyType'] {
  if (position.value === 'form' || position.value === 'json') return position.value;
  if (isGiven(position)) addFault(position, 'it must be "json" or "form"');
  return 'json';
}

function filterFault(text: string): string | undefined {
  if (text === '') return 'it is empty; leave it out where the whole answer is wanted';
  return text.length > MAX_FILTER_LENGTH ? `it is longer than ${MAX_FILTER_LENGTH} characters` : undefined;
}

function readWhole(
  position: JsonPosition,
  { max, defaultValue }: { readonly max: number; readonly defaultValue: number },
): number {
  return isGiven(position) ? wholeNumber({ min: 1, max })(position) : defaultValue;
}

/**
 * The given schema, which must have every argument of the URL; if none is given, a schema of these and of the mapped
 * arguments.
 */
function readInputSchema(
  position: JsonPosition,
  template: UrlTemplate | undefined,
  mapped: readonly string[],
): JsonObject {
  const inUrl = [...(template?.pathArguments ?? []), ...(template?.queryArguments ?? [])];
  if (!isGiven(position)) return schemaOf([...new Set(inUrl)], mapped);
  const schema = readObjectSchema(position);
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const missing = inUrl.filter((name) => !Object.hasOwn(properties, name));
  if (missing.length > 0)
    addFault(
      position,
      `it has no property ${missing.map((name) => JSON.stringify(name)).join(', ')}, which the URL needs`,
    );
  return schema;
}

function readOutputSchema(position: JsonPosition): JsonObject | undefined {
  return isGiven(position) ? readObjectSchema(position) : undefined;
}

function schemaOf(required: readonly string[], mapped: readonly string[]): JsonObject {
  const names = [...new Set([...required, ...mapped])];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    ...(required.length > 0 && { required }),
  };
}

/** Both arguments and structured content must be objects (2025-11-25, schema#tool). */
function readObjectSchema(position: JsonPosition): JsonObject {
  const { value } = position;
  if (isJsonObject(value) && value['type'] === 'object') {
    if (value['properties'] === undefined || isJsonObject(value['properties'])) return value;
    addFault(memberAt(position, 'properties'), 'it must be an object');
  } else addFault(position, 'it must be a JSON Schema with "type": "object"');
  return { type: 'object' };
}

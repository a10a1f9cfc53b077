import { pickDeclaredHints, type Hint, HINT_ABOUT, isContradiction } from '@assay-mcp/kit/hint';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import {
  addFault,
  type Fault,
  readFitTextAt,
  isGiven,
  readMemberAt,
  readMembersAt,
  type JsonPosition,
} from '@assay-mcp/kit/json-position';
import {
  described,
  fitText,
  flag,
  object,
  objectSchema,
  oneOf,
  optional,
  type Reader,
  record,
  reportUnknown,
  getSchema,
  text,
  wholeNumber,
  withSchema,
} from '@assay-mcp/kit/json-reader';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { findHeaderNameFault, findHeaderValueFault, findMappedHeaderFault } from './http-header.ts';
import { restAuth } from './read-rest-auth.ts';
import type { RestAuth, RestToolSpec } from './custom-tools.ts';
import {
  DEFAULT_OUTPUT_VALIDATION,
  OUTPUT_VALIDATION_ABOUT,
  OUTPUT_VALIDATIONS,
} from './output-validation.ts';
import { readUrlTemplate, type UrlTemplate } from './url-template.ts';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

export const REST_TOOL_NAME: RegExp = /^[a-zA-Z0-9_][a-zA-Z0-9._/-]{0,127}$/;
const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
const DEFAULT_MS = 60_000;
const MIB = 2 ** 20;
const MAX_BYTES = 50 * MIB;
const MAX_FILTER_LENGTH = 4_096;

const method: Reader<string> = withSchema(
  (position) => {
    const written = text(position);
    const upper = written.toUpperCase();
    if (typeof position.value === 'string' && !METHODS.includes(upper))
      addFault(position, `it must be one of ${METHODS.join(', ')}`);
    return upper;
  },
  () => ({
    anyOf: [{ enum: METHODS }, { type: 'string', pattern: `^(?:${METHODS.map(inAnyCase).join('|')})$` }],
  }),
);

function inAnyCase(word: string): string {
  return word.replaceAll(/./g, (letter) => `[${letter}${letter.toLowerCase()}]`);
}

/** Both arguments and structured content must be objects (2025-11-25, schema#tool). */
const objectType: Reader<JsonObject> = withSchema(
  (position) => {
    const { value } = position;
    if (isJsonObject(value) && value['type'] === 'object') {
      if (value['properties'] === undefined || isJsonObject(value['properties'])) return value;
      addFault(readMemberAt(position, 'properties'), 'it must be an object');
    } else addFault(position, 'it must be a JSON Schema with "type": "object"');
    return { type: 'object' };
  },
  () => ({
    type: 'object',
    properties: {
      type: { description: 'always object', const: 'object' },
      properties: { description: 'a JSON Schema for each', type: 'object' },
    },
    required: ['type'],
  }),
);

type Annotations = Readonly<Partial<Record<Hint, boolean>> & { title?: string | undefined }>;

const annotationMembers = object<Annotations>({
  readOnlyHint: hintMember('readOnlyHint'),
  destructiveHint: hintMember('destructiveHint'),
  idempotentHint: hintMember('idempotentHint'),
  openWorldHint: hintMember('openWorldHint'),
  title: described('a title, if the entry has none', optional(text)),
});

function hintMember(hint: Hint): Reader<boolean | undefined> {
  return described(HINT_ABOUT[hint], optional(flag));
}

const annotations: Reader<Annotations> = withSchema(
  (position) => {
    const read = annotationMembers(position);
    if (isContradiction(pickDeclaredHints(read)))
      addFault(position, 'what only reads destroys nothing: readOnlyHint and destructiveHint are both true');
    return read;
  },
  () => ({
    ...getSchema(annotationMembers),
    not: {
      properties: { readOnlyHint: { const: true }, destructiveHint: { const: true } },
      required: ['readOnlyHint', 'destructiveHint'],
    },
  }),
);

const filter = fitText(
  (given) => {
    if (given === '') return 'it is empty; leave it out where the whole answer is wanted';
    return given.length > MAX_FILTER_LENGTH ? `it is longer than ${MAX_FILTER_LENGTH} characters` : undefined;
  },
  { minLength: 1, maxLength: MAX_FILTER_LENGTH },
);

/** The members of an entry, each checked alone. A test compares the descriptions with docs/SOURCES.md. */
const MEMBERS = {
  url: described(
    'absolute; {argument} in its path or query is replaced by that argument',
    withSchema(readUrl, () => ({ type: 'string' })),
  ),
  method: described(METHODS.join(', '), optional(method)),
  headers: described('sent with every request', optional(record(text))),
  auth: described('credentials', optional(restAuth)),
  title: described('what people and models read', optional(text)),
  description: described('what people and models read', optional(text)),
  inputSchema: described('JSON Schema of the arguments', optional(objectType)),
  outputSchema: described('JSON Schema of the response', optional(objectType)),
  outputValidation: described(OUTPUT_VALIDATION_ABOUT, optional(oneOf(OUTPUT_VALIDATIONS))),
  annotations: described('what the tool declares about itself', optional(annotations)),
  queryMapping: described('argument to query parameter', optional(record(text))),
  headerMapping: described('argument to header', optional(record(text))),
  bodyType: described('json or form', optional(oneOf(['json', 'form']))),
  filter: described('a JMESPath expression that selects what the model gets', optional(filter)),
  timeoutMs: described('time limit for one call', optional(wholeNumber({ min: 1, max: MAX_TIMER_MS }))),
  maxBytes: described(
    'maximum number of response bytes to read',
    optional(wholeNumber({ min: 1, max: MAX_BYTES })),
  ),
};

/** The JSON Schema of an entry. */
export function restToolSchema(): JsonObject {
  return { ...objectSchema(MEMBERS), additionalProperties: false };
}

/** Reads an HTTP request that an operator exposes as a tool. Does not check whether its filter and schemas compile. */
export function readRestTool(
  name: string,
  entry: Readonly<Record<string, unknown>>,
): Result<RestToolSpec, readonly Fault[]> {
  const faults: Fault[] = [];
  const position: JsonPosition = { value: entry, pointer: '', faults };
  const at = (member: string): JsonPosition => readMemberAt(position, member);
  checkName(name, position);
  reportUnknown(position, Object.keys(MEMBERS));
  const template = MEMBERS.url(at('url'));
  const given = MEMBERS.method(at('method'));
  const auth = MEMBERS.auth(at('auth'));
  const headers = readHeaders(at('headers'), auth);
  const queryMapping = readMapping(at('queryMapping'), queryFaults(template, auth));
  const headerMapping = readMapping(at('headerMapping'), headerFaults(headers, auth));
  const mapped = [...Object.keys(queryMapping), ...Object.keys(headerMapping)];
  const annotated = MEMBERS.annotations(at('annotations')) ?? {};
  const spec: RestToolSpec = {
    name,
    title: MEMBERS.title(at('title')) ?? annotated.title,
    description: MEMBERS.description(at('description')),
    url: typeof entry['url'] === 'string' ? entry['url'] : '',
    method: given ?? 'POST',
    isMethodGiven: given !== undefined,
    headers,
    auth,
    inputSchema: readInputSchema(at('inputSchema'), template, mapped),
    outputSchema: MEMBERS.outputSchema(at('outputSchema')),
    outputValidation: MEMBERS.outputValidation(at('outputValidation')) ?? DEFAULT_OUTPUT_VALIDATION,
    annotations: pickDeclaredHints(annotated),
    queryMapping,
    headerMapping,
    bodyType: MEMBERS.bodyType(at('bodyType')) ?? 'json',
    filter: MEMBERS.filter(at('filter')),
    timeoutMs: MEMBERS.timeoutMs(at('timeoutMs')) ?? DEFAULT_MS,
    maxBytes: MEMBERS.maxBytes(at('maxBytes')) ?? MIB,
  };
  return faults.length === 0 ? ok(spec) : err(faults);
}

function checkName(name: string, position: JsonPosition): void {
  if (REST_TOOL_NAME.test(name)) return;
  addFault(
    position,
    'a name has 1 to 128 letters, digits, "_", ".", "/" or "-", and begins with a letter, a digit or "_"',
  );
}

function readUrl(position: JsonPosition): UrlTemplate | undefined {
  let template: UrlTemplate | undefined;
  readFitTextAt(position, (text) => {
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
    return findHeaderNameFault(name) ?? findHeaderValueFault(value);
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
    return fixed.has(lower) ? 'that header is set by "headers"' : findMappedHeaderFault(target);
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
  const members = isGiven(position) ? readMembersAt(position) : [];
  return Object.fromEntries(
    members.map(([name, member]) => [name, readFitTextAt(member, (text) => fault(name, text))]),
  );
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
  const patterns =
    template === undefined ? [] : [template.path, ...template.query.map(({ pattern }) => pattern)];
  const inUrl = [...new Set(patterns.flatMap(({ names }) => names))];
  if (!isGiven(position)) return schemaFor(inUrl, mapped);
  const schema = objectType(position);
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const missing = inUrl.filter((name) => !Object.hasOwn(properties, name));
  if (missing.length > 0)
    addFault(
      position,
      `it has no property ${missing.map((name) => JSON.stringify(name)).join(', ')}, which the URL needs`,
    );
  return schema;
}

function schemaFor(required: readonly string[], mapped: readonly string[]): JsonObject {
  const names = [...new Set([...required, ...mapped])];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    ...(required.length > 0 && { required }),
  };
}

import { type JsonObject, isJsonObject } from '@assay-mcp/kit/json-object';
import { parsePointerFragment } from '@assay-mcp/kit/json-pointer';

/** Where a schema is wrong, as object keys and array indexes from the schema down. */
export interface SchemaFault {
  readonly at: readonly (string | number)[];
  readonly message: string;
}

/**
 * Why SDK 1.x cannot compile an output schema; undefined if it can. Its client compiles all output schemas of a list
 * with Ajv 8 when the list arrives, and rejects the list if one fails. `schema` has already passed its parser. Follows
 * Ajv keyword by keyword. Whatever depends on more than the schema (nested ids, references to other documents) counts
 * as a fault, and so does a schema that is too large or too deep to inspect.
 */
export function findCompileFault(schema: JsonObject): SchemaFault | undefined {
  const { $id } = schema;
  const isIdFine = typeof $id === 'string' ? PLAIN_URI.test($id) : !$id;
  if (!isIdFine) return { at: ['$id'], message: 'is not a plain URI' };
  const anchors = new Map<string, JsonObject>();
  const walk: Walk = { root: schema, anchors, circles: new Map(), seen: new Set(), isOnlyReference };
  return (
    descend(schema, (inner, at) => anchorStep(inner, at, anchors)) ??
    descend(schema, (inner, at) => compileStep(inner, at, walk))
  );
}

/**
 * The first reference within a schema that names nothing in it; undefined if there is none. No client may take such a
 * part for one that accepts everything. References to other documents, and below nested ids, are not followed.
 */
export function findDanglingReference(schema: JsonObject): SchemaFault | undefined {
  const anchors = new Map<string, JsonObject>();
  const walkAll = (step: (inner: JsonObject, at: At) => SchemaFault | undefined): SchemaFault | undefined =>
    descend(schema, (inner, at) => {
      if (!isJsonObject(inner) || (at.length > 0 && typeof inner['$id'] === 'string')) return undefined;
      return step(inner, at) ?? listPartsBelow(inner);
    });
  walkAll((inner) => {
    for (const key of ['$anchor', '$dynamicAnchor'])
      if (typeof inner[key] === 'string') anchors.set(inner[key], inner);
    return undefined;
  });
  const referents: Referents = { root: { ...schema, $id: undefined }, anchors };
  const fault = walkAll((inner, at) => {
    const { $ref } = inner;
    const isLocal = typeof $ref === 'string' && $ref.startsWith('#') && $ref !== '#' && $ref !== '#/';
    if (!isLocal || findReferent($ref, referents) !== undefined) return undefined;
    return { at: [...at, '$ref'], message: DANGLING };
  });
  return fault?.message === DANGLING ? fault : undefined;
}

const DANGLING = 'names nothing in this schema';

type At = readonly (string | number)[];
type Part = readonly [at: At, schema: unknown];

interface Walk extends References {
  /** Schemas already visited, so that recursive ones end. */
  readonly seen: Set<object>;
}

/** What to do next: report a fault or visit the parts; undefined if nothing is new. */
type Step = SchemaFault | readonly Part[] | undefined;

/** Maximum number of schemas inspected; no honest tool needs more. */
const MAX_SCHEMAS = 10_000;
/** Ajv compiles recursively: its stack overflows at 500 to 1,600 keys and indexes, references followed. */
const MAX_DEPTH = 256;
const SHOWN_DEPTH = 16;

/** Depth first, in document order, and without recursion: a chain of references can be long. */
function descend(root: JsonObject, step: (schema: unknown, at: At) => Step): SchemaFault | undefined {
  const waiting: { readonly base: At; readonly part: Part }[] = [{ base: [], part: [[], root] }];
  let looked = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [path, schema] = next.part;
    if (schema !== null && !isJsonObject(schema)) continue;
    const at = [...next.base, ...path];
    if (at.length > MAX_DEPTH)
      return { at: at.slice(0, SHOWN_DEPTH), message: `leads more than ${MAX_DEPTH} steps down` };
    const found = step(schema, at);
    if (found === undefined) continue;
    if (++looked > MAX_SCHEMAS) return { at: [], message: `holds more than ${MAX_SCHEMAS} schemas` };
    if ('message' in found) return found;
    for (const part of found.toReversed()) waiting.push({ base: at, part });
  }
  return undefined;
}

const PLAIN_URI = /^[\w:/.~-]*#?$/;
const ANCHOR = /^[a-z_][-a-z0-9._]*$/i;
const HOLD_SCHEMAS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'properties',
  'patternProperties',
  'dependencies',
]);
const HOLD_LISTS: ReadonlySet<string> = new Set(['items', 'allOf', 'anyOf', 'oneOf']);
const HOLD_DATA: ReadonlySet<string> = new Set(['default', 'enum', 'const']);

/** Ajv looks for ids and anchors in every object that may be a schema, even below unknown keywords. */
function anchorStep(schema: unknown, at: At, anchors: Map<string, JsonObject>): Step {
  if (!isJsonObject(schema)) return undefined;
  return (at.length === 0 ? undefined : anchorFault(schema, anchors, at)) ?? listPartsBelow(schema);
}

function listPartsBelow(schema: JsonObject): readonly Part[] {
  return Object.entries(schema).flatMap(([key, value]): readonly Part[] => {
    if (Array.isArray(value)) return HOLD_LISTS.has(key) ? partsOf(schema, key) : [];
    if (!isJsonObject(value) || HOLD_DATA.has(key)) return [];
    return HOLD_SCHEMAS.has(key) ? partsOf(schema, key) : [[[key], value]];
  });
}

function anchorFault(schema: JsonObject, anchors: Map<string, JsonObject>, at: At): SchemaFault | undefined {
  if (typeof schema['$id'] === 'string') return { at: [...at, '$id'], message: 'is nested' };
  return first(['$anchor', '$dynamicAnchor'], (key) => {
    const anchor = schema[key];
    if (typeof anchor !== 'string') return undefined;
    if (!ANCHOR.test(anchor) || anchors.has(anchor))
      return { at: [...at, key], message: 'is not a valid and unique name' };
    anchors.set(anchor, schema);
    return undefined;
  });
}

/** A schema in a position where Ajv compiles it. */
function compileStep(schema: unknown, at: At, walk: Walk): Step {
  if (schema === null) return { at, message: 'is null' };
  if (!isJsonObject(schema) || walk.seen.has(schema)) return undefined;
  walk.seen.add(schema);
  if (isAlwaysValid(schema)) return [];
  if (schema['$async']) return { at: [...at, '$async'], message: 'is set' };
  if (at.length > 0 && schema['$id']) return { at: [...at, '$id'], message: 'is nested' };
  const target = referenceStep(schema, at, walk);
  if ('message' in target || isOnlyReference(schema)) return target;
  return typeFault(schema, at) ?? keywordFault(schema, at) ?? [...target, ...partsCompiledOf(schema)];
}

/** The subschemas that Ajv compiles; it skips those that cannot change the result. */
function partsCompiledOf(schema: JsonObject): readonly Part[] {
  // Most schemas have no subschemas.
  if (!Object.values(schema).some((value) => typeof value === 'object')) return [];
  const parts = (keyword: string): readonly Part[] =>
    partsOf(schema, keyword).filter(([[, key]]) => key !== '__proto__');
  const whole = (keyword: string): readonly Part[] =>
    Object.hasOwn(schema, keyword) ? [[[keyword], schema[keyword]]] : [];
  const { items, anyOf } = schema;
  const branches = [...whole('then'), ...whole('else')].filter(([, branch]) => !isAlwaysValid(branch));
  const isDecided = Array.isArray(anyOf) && anyOf.some(isAlwaysValid);
  const condition = branches.length === 0 ? [] : whole('if');
  return [
    ...['properties', 'patternProperties', 'allOf', 'oneOf'].flatMap(parts),
    ...parts('anyOf').filter(([, part]) => !isDecided || part === null),
    ...parts('dependencies').filter(([, part]) => !Array.isArray(part)),
    ...['not', 'additionalProperties', 'contains', 'propertyNames'].flatMap(whole),
    ...(Array.isArray(items) ? [...parts('items'), ...whole('additionalItems')] : whole('items')),
    ...(condition.length === 0 ? [] : [...condition, ...branches]),
  ];
}

const TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'object',
  'array',
]);

function typeFault({ type, nullable }: JsonObject, at: At): SchemaFault | undefined {
  const types: readonly unknown[] = Array.isArray(type) ? type : type ? [type] : [];
  if (!types.every((one) => TYPES.has(one))) return { at: [...at, 'type'], message: 'names no JSON type' };
  if (types.includes('null'))
    return nullable === false ? { at: [...at, 'nullable'], message: 'contradicts the type' } : undefined;
  return types.length === 0 && nullable !== undefined
    ? { at: [...at, 'nullable'], message: 'stands without a type' }
    : undefined;
}

interface Keyword {
  /** Allowed JSON types of the value; any if absent. */
  readonly types?: readonly string[];
  /** Any other fault of a value of an allowed type. */
  readonly fault?: (value: unknown, schema: JsonObject) => string | undefined;
}

const NUMBER: Keyword = { types: ['number'] };
const OBJECT: Keyword = { types: ['object'] };
const SCHEMA: Keyword = { types: ['object', 'boolean'] };
const SCHEMAS: Keyword = { types: ['array'] };
const LIMIT: Keyword = {
  types: ['string'],
  fault: (_, { format }) => unless(COMPARABLE.has(format), 'needs a format with an order'),
};
const COMPARABLE: ReadonlySet<unknown> = new Set(['date', 'time', 'date-time', 'iso-time', 'iso-date-time']);

/** The keywords that Ajv evaluates. A schema with none of them accepts everything and is not compiled. */
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ...['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'].map(as(NUMBER)),
  ...['maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'].map(as(NUMBER)),
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames'].map(as(SCHEMA)),
  ...['additionalProperties', 'additionalItems'].map(as(SCHEMA)),
  ...['anyOf', 'oneOf', 'allOf'].map(as(SCHEMAS)),
  ...['formatMaximum', 'formatMinimum', 'formatExclusiveMaximum', 'formatExclusiveMinimum'].map(as(LIMIT)),
  ...['uniqueItems', 'nullable'].map(as({ types: ['boolean'] })),
  ...['const', '$comment'].map(as({})),
  ['$ref', { types: ['string'] }],
  ['format', { types: ['string'] }],
  ['type', { types: ['string', 'array'] }],
  ['items', { types: ['object', 'array', 'boolean'] }],
  ['properties', OBJECT],
  [
    'patternProperties',
    { types: ['object'], fault: (value) => patternFault(Object.keys(value as JsonObject)) },
  ],
  ['pattern', { types: ['string'], fault: (value) => patternFault([value]) }],
  [
    'required',
    { types: ['array'], fault: (value) => unless(areStrings(value), 'holds something else than strings') },
  ],
  [
    'enum',
    { types: ['array'], fault: (value) => unless(Array.isArray(value) && value.length > 0, 'is empty') },
  ],
  [
    'dependencies',
    {
      types: ['object'],
      fault: (value) =>
        unless(Object.values(value as JsonObject).every(isDependency), 'holds something else than strings'),
    },
  ],
  // Draft 4 spelled `$id` as `id`; Ajv rejects it with any value.
  ['id', { types: [] }],
]);

function as(keyword: Keyword): (name: string) => readonly [string, Keyword] {
  return (name) => [name, keyword];
}

function keywordFault(schema: JsonObject, at: At): SchemaFault | undefined {
  return first(Object.entries(schema), ([name, value]) => {
    const keyword = KEYWORDS.get(name);
    if (keyword === undefined) return undefined;
    const isType = keyword.types?.includes(typeOf(value)) ?? true;
    const message = isType ? keyword.fault?.(value, schema) : 'has a value of the wrong type';
    return message === undefined ? undefined : { at: [...at, name], message };
  });
}

/** Ajv compiles patterns with the flag "u", which rejects escapes such as `\-` that most other engines accept. */
function patternFault(patterns: readonly unknown[]): string | undefined {
  try {
    for (const pattern of patterns) new RegExp(String(pattern), 'u');
    return undefined;
  } catch {
    return 'is not a regular expression with the flag "u"';
  }
}

function isDependency(value: unknown): boolean {
  return !Array.isArray(value) || areStrings(value);
}

/** The target of a reference must exist and compile, too. Ajv does not detect cycles made only of references. */
function referenceStep(schema: JsonObject, at: At, walk: Walk): SchemaFault | readonly Part[] {
  const { $ref } = schema;
  // Refers to the whole schema; `#/` is Ajv's own spelling.
  if ($ref === undefined || $ref === '' || $ref === '#' || $ref === '#/') return [];
  const target = findReferent($ref, walk);
  if (target === undefined) return { at: [...at, '$ref'], message: DANGLING };
  if (leadsNowhere(schema, walk)) return { at: [...at, '$ref'], message: 'leads back to itself' };
  return [[['$ref'], target]];
}

/** Ajv then ignores all other members. */
function isOnlyReference(schema: JsonObject): boolean {
  return Boolean(schema['$ref']) && Object.keys(schema).every((key) => key === '$ref' || !KEYWORDS.has(key));
}

function isAlwaysValid(schema: unknown): boolean {
  return isJsonObject(schema)
    ? !Object.keys(schema).some((key) => KEYWORDS.has(key))
    : schema !== false && schema !== null;
}

function partsOf(schema: JsonObject, keyword: string): readonly Part[] {
  const value = schema[keyword];
  if (Array.isArray(value)) return value.map((part: unknown, index): Part => [[keyword, index], part]);
  return isJsonObject(value) ? Object.entries(value).map(([key, part]): Part => [[keyword, key], part]) : [];
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

function areStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function unless(isFine: boolean, message: string): string | undefined {
  return isFine ? undefined : message;
}

function first<T>(
  items: readonly T[],
  faultOf: (item: T) => SchemaFault | undefined,
): SchemaFault | undefined {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The possible targets of one schema's references. */
interface Referents {
  readonly root: JsonObject;
  readonly anchors: ReadonlyMap<string, JsonObject>;
}

/** The target of a reference within its own schema; undefined if there is none. */
function findReferent(ref: unknown, { root, anchors }: Referents): unknown {
  if (typeof ref !== 'string') return undefined;
  if (!ref.startsWith('#/'))
    return root['$id'] ? undefined : anchors.get(ref.slice(ref.startsWith('#') ? 1 : ref.length));
  let target: unknown = root;
  for (const step of parsePointerFragment(ref) ?? [ref]) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, step)) return undefined;
    target = (target as JsonObject)[step];
  }
  return target ?? undefined;
}

interface References extends Referents {
  /** For each visited schema, whether it leads back to itself; each is followed once. */
  readonly circles: Map<object, boolean>;
  /** Whether a schema consists only of a reference. */
  readonly isOnlyReference: (schema: JsonObject) => boolean;
}

/** Whether a chain of references never ends. */
function leadsNowhere(schema: JsonObject, references: References): boolean {
  const { circles, isOnlyReference } = references;
  const passed = new Set<object>();
  let isCircle = false;
  let next: unknown = schema;
  while (isJsonObject(next)) {
    const known = circles.get(next) ?? (passed.has(next) ? true : undefined);
    if (known !== undefined) {
      isCircle = known;
      break;
    }
    passed.add(next);
    if (!isOnlyReference(next)) break;
    next = findReferent(next['$ref'], references);
  }
  for (const one of passed) circles.set(one, isCircle);
  return isCircle;
}

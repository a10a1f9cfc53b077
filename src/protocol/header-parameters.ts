import { err, ok, type Result } from '../core/result.ts';
import type { SchemaFault } from './compilable.ts';
import { planOf, type Keys, type Plan } from './plan.ts';
import { type JsonObject, isJsonObject } from '../core/json-object.ts';

/** What of the arguments of a tool stands in headers as well, so that whoever routes a call need not read its body. */
export interface HeaderParameters {
  readonly all: readonly HeaderParameter[];
  /** Where they stand in the arguments. */
  readonly plan: Plan;
}

export interface HeaderParameter {
  /** The name of the header, such as `Mcp-Param-Region`. */
  readonly header: string;
  /** The same in lower case, as Node gives names of headers. */
  readonly field: string;
  /** Keys from the arguments down. */
  readonly path: readonly string[];
}

/**
 * Which parameters of an input schema headers repeat; undefined where none does. The error is what makes the whole
 * definition invalid (2026-07-28, basic/transports/streamable-http#schema-extension).
 */
export function readHeaderParameters(
  inputSchema: unknown,
): Result<HeaderParameters | undefined, SchemaFault> {
  const found: Found = new Map();
  const fault = sweep(inputSchema, { path: [], at: [], isReachable: true }, found);
  if (fault !== undefined) return err(fault);
  const all = [...found.values()];
  return ok(all.length === 0 ? undefined : { all, plan: planOf(keysOf(all)) });
}

/** The same of a whole definition that modern clients accept. */
export function headerParametersOf(definition: Buffer): HeaderParameters | undefined {
  // A parser is not needed to see that nothing is annotated, unless a letter of the key is written as an escape.
  if (!definition.includes(ANNOTATION) && !definition.includes(ESCAPED)) return undefined;
  const { inputSchema } = JSON.parse(definition.toString()) as { readonly inputSchema?: unknown };
  const found = readHeaderParameters(inputSchema);
  return found.ok ? found.value : undefined;
}

const ANNOTATION = 'x-mcp-header';
const ESCAPED = '\\u00';
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** A definition that can be listed at all is not deeper. */
const DEEPEST = 256;
const SHOWN_DEPTH = 16;

/** Keywords that hold schemas through which no parameter is reached: one, or several in an array or under names. */
const BEYOND: readonly string[] = [
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const BEYOND_NAMED: readonly string[] = [
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
];

interface Place {
  /** The chain of properties that leads there. */
  readonly path: readonly string[];
  /** All keys and indexes that lead there. */
  readonly at: SchemaFault['at'];
  /** Whether nothing but `properties` leads there. */
  readonly isReachable: boolean;
}

/** By `field`. */
type Found = Map<string, HeaderParameter>;

/** Looks at a schema and all schemas in it; what is no schema, such as a default, may hold the same key and mean nothing. */
function sweep(schema: unknown, place: Place, found: Found): SchemaFault | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (place.at.length > DEEPEST)
    return { at: place.at.slice(0, SHOWN_DEPTH), says: `leads more than ${DEEPEST} steps down` };
  if (Object.hasOwn(schema, ANNOTATION)) {
    const says = annotate(schema, place, found);
    if (says !== undefined) return { at: [...place.at, ANNOTATION], says };
  }
  for (const [inner, next] of partsOf(schema, place)) {
    const fault = sweep(inner, next, found);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Takes one annotation in, or says what is wrong with it. */
function annotate(schema: JsonObject, { path, isReachable }: Place, found: Found): string | undefined {
  const name = schema[ANNOTATION];
  if (!isReachable || path.length === 0) return 'is not on a property that "properties" alone lead to';
  if (typeof name !== 'string' || name === '') return 'is no string with a name in it';
  if (!TOKEN.test(name)) return 'is no name of a header (RFC 9110, section 5.6.2)';
  if (!TYPES.has(schema['type'])) return 'is on a type other than string, integer or boolean';
  const header = `Mcp-Param-${name}`;
  const field = header.toLowerCase();
  if (found.has(field)) return 'is a name that another parameter has';
  found.set(field, { header, field, path });
  return undefined;
}

function partsOf(
  schema: JsonObject,
  { path, at, isReachable }: Place,
): readonly (readonly [unknown, Place])[] {
  const beyond = (inner: unknown, ...keys: SchemaFault['at']): readonly [unknown, Place] => [
    inner,
    { path, at: [...at, ...keys], isReachable: false },
  ];
  const properties = entriesOf(schema['properties']).map(([key, inner]): readonly [unknown, Place] => [
    inner,
    { path: [...path, key], at: [...at, 'properties', key], isReachable },
  ]);
  const plain = BEYOND.filter((key) => Object.hasOwn(schema, key)).flatMap((key) => {
    const value = schema[key];
    return Array.isArray(value)
      ? value.map((inner: unknown, index) => beyond(inner, key, index))
      : [beyond(value, key)];
  });
  const named = BEYOND_NAMED.flatMap((key) =>
    entriesOf(Object.hasOwn(schema, key) ? schema[key] : undefined).map(([name, inner]) =>
      beyond(inner, key, name),
    ),
  );
  return [...properties, ...plain, ...named];
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function keysOf(all: readonly HeaderParameter[]): Keys {
  const root: Branch = Object.create(null) as Branch; // a parameter may be called "__proto__"
  for (const { path } of all) {
    let branch = root;
    for (const key of path) branch = branch[key] ??= Object.create(null) as Branch;
  }
  return root;
}

interface Branch {
  [key: string]: Branch;
}

import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { SchemaFault } from './compilable.ts';
import { buildPlan, type Keys, type Plan } from './plan.ts';
import { type JsonObject, isJsonObject } from '@assay-mcp/kit/json-object';

/** Tool arguments that are repeated in HTTP headers, so that a router need not read the body. */
export interface HeaderParameters {
  readonly all: readonly HeaderParameter[];
  /** The scan plan that finds them in the arguments. */
  readonly plan: Plan;
}

export interface HeaderParameter {
  /** The header's name, such as `Mcp-Param-Region`. */
  readonly header: string;
  /** The same in lower case, as Node reports header names. */
  readonly field: string;
  /** Keys from the arguments down. */
  readonly path: readonly string[];
}

/**
 * The parameters of an input schema that are repeated in headers; undefined if there are none. The error says what
 * makes the whole definition invalid (2026-07-28, basic/transports/streamable-http#schema-extension).
 */
export function readHeaderParameters(
  inputSchema: unknown,
): Result<HeaderParameters | undefined, SchemaFault> {
  const found: Found = new Map();
  const fault = sweep(inputSchema, { path: [], at: [], isReachable: true }, found);
  if (fault !== undefined) return err(fault);
  const all = [...found.values()];
  return ok(all.length === 0 ? undefined : { all, plan: buildPlan(keysOf(all)) });
}

/** The same for a whole definition that modern clients accept. */
export function findHeaderParameters(definition: Buffer): HeaderParameters | undefined {
  if (!mayHaveHeaderParameters(definition)) return undefined;
  const { inputSchema } = JSON.parse(definition.toString()) as { readonly inputSchema?: unknown };
  const found = readHeaderParameters(inputSchema);
  return found.ok ? found.value : undefined;
}

/** False if a definition certainly has no header parameters: its text contains neither the keyword nor escapes. */
export function mayHaveHeaderParameters(definition: Buffer): boolean {
  return definition.includes(ANNOTATION) || definition.includes(ESCAPED);
}

const ANNOTATION = 'x-mcp-header';
const ESCAPED = '\\u00';
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** Definitions that can be listed at all are not deeper. */
const MAX_DEPTH = 256;
const SHOWN_DEPTH = 16;

/** Keywords with schemas that contain no parameters: a single schema, several in an array, or several by name. */
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

interface SchemaPosition {
  /** The chain of properties leading there. */
  readonly path: readonly string[];
  /** All keys and indexes leading there. */
  readonly at: SchemaFault['at'];
  /** Whether only `properties` lead there. */
  readonly isReachable: boolean;
}

/** By `field`. */
type Found = Map<string, HeaderParameter>;

/**
 * Visits a schema and its subschemas only: other values, such as a default, may contain the same key without meaning.
 */
function sweep(schema: unknown, position: SchemaPosition, found: Found): SchemaFault | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (position.at.length > MAX_DEPTH)
    return { at: position.at.slice(0, SHOWN_DEPTH), message: `leads more than ${MAX_DEPTH} steps down` };
  if (Object.hasOwn(schema, ANNOTATION)) {
    const message = annotate(schema, position, found);
    if (message !== undefined) return { at: [...position.at, ANNOTATION], message };
  }
  for (const [inner, next] of partsOf(schema, position)) {
    const fault = sweep(inner, next, found);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Records one annotation, or returns what is wrong with it. */
function annotate(
  schema: JsonObject,
  { path, isReachable }: SchemaPosition,
  found: Found,
): string | undefined {
  const name = schema[ANNOTATION];
  if (!isReachable || path.length === 0) return 'is not on a property that "properties" alone lead to';
  if (typeof name !== 'string' || name === '') return 'is not a non-empty string';
  if (!TOKEN.test(name)) return 'is not a header name (RFC 9110, section 5.6.2)';
  if (!TYPES.has(schema['type'])) return 'is on a type other than string, integer or boolean';
  const header = `Mcp-Param-${name}`;
  const field = header.toLowerCase();
  if (found.has(field)) return 'is a name that another parameter has';
  found.set(field, { header, field, path });
  return undefined;
}

function partsOf(
  schema: JsonObject,
  { path, at, isReachable }: SchemaPosition,
): readonly (readonly [unknown, SchemaPosition])[] {
  const beyond = (inner: unknown, ...keys: SchemaFault['at']): readonly [unknown, SchemaPosition] => [
    inner,
    { path, at: [...at, ...keys], isReachable: false },
  ];
  const properties = entriesOf(schema['properties']).map(
    ([key, inner]): readonly [unknown, SchemaPosition] => [
      inner,
      { path: [...path, key], at: [...at, 'properties', key], isReachable },
    ],
  );
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
  const root: Branch = Object.create(null) as Branch; // a parameter may be named "__proto__"
  for (const { path } of all) {
    let branch = root;
    for (const key of path) branch = branch[key] ??= Object.create(null) as Branch;
  }
  return root;
}

interface Branch {
  [key: string]: Branch;
}

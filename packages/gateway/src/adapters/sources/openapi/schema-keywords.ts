import { isMembers } from '@assay-mcp/kit/canonical-json';

/** What a JSON Schema keyword holds: schemas, or a value that is kept if it passes the check. */
type Keyword =
  | { readonly kind: 'schema' | 'schemas' | 'schemaMap' | 'patternMap' }
  | { readonly kind: 'value'; fits(value: unknown): boolean };

const SCHEMA: Keyword = { kind: 'schema' };
const SCHEMAS: Keyword = { kind: 'schemas' };
const SCHEMA_MAP: Keyword = { kind: 'schemaMap' };
const TEXT: Keyword = { kind: 'value', fits: (value) => typeof value === 'string' };
const FLAG: Keyword = { kind: 'value', fits: (value) => typeof value === 'boolean' };
const NUMBER: Keyword = { kind: 'value', fits: Number.isFinite };
const COUNT: Keyword = { kind: 'value', fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0 };
const ANYTHING: Keyword = { kind: 'value', fits: (value) => value !== undefined };

/** Annotations: keywords that do not affect validation. */
export const WORDS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
]);

/**
 * The JSON Schema 2020-12 keywords to keep. Real documents hold unknown keywords and values that make the whole schema
 * invalid; a model is better served by the rest of the schema than by nothing.
 */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['type', { kind: 'value', fits: (value) => typeof value === 'string' || Array.isArray(value) }],
  ['title', TEXT],
  ['description', TEXT],
  ['format', TEXT],
  ['contentEncoding', TEXT],
  ['contentMediaType', TEXT],
  ['pattern', { kind: 'value', fits: isPattern }],
  ['default', ANYTHING],
  ['const', ANYTHING],
  ['examples', { kind: 'value', fits: Array.isArray }],
  ['enum', { kind: 'value', fits: (value) => Array.isArray(value) && value.length > 0 }],
  ['deprecated', FLAG],
  ['uniqueItems', FLAG],
  ['minimum', NUMBER],
  ['maximum', NUMBER],
  ['exclusiveMinimum', NUMBER],
  ['exclusiveMaximum', NUMBER],
  ['multipleOf', { kind: 'value', fits: (value) => Number.isFinite(value) && Number(value) > 0 }],
  ['minLength', COUNT],
  ['maxLength', COUNT],
  ['minItems', COUNT],
  ['maxItems', COUNT],
  ['minContains', COUNT],
  ['maxContains', COUNT],
  ['minProperties', COUNT],
  ['maxProperties', COUNT],
  ['required', { kind: 'value', fits: Array.isArray }],
  [
    'dependentRequired',
    { kind: 'value', fits: (value) => isMembers(value) && Object.values(value).every(isNames) },
  ],
  ['items', SCHEMA],
  ['contains', SCHEMA],
  ['not', SCHEMA],
  ['if', SCHEMA],
  ['then', SCHEMA],
  ['else', SCHEMA],
  ['propertyNames', SCHEMA],
  ['additionalProperties', SCHEMA],
  ['unevaluatedItems', SCHEMA],
  ['unevaluatedProperties', SCHEMA],
  ['allOf', SCHEMAS],
  ['anyOf', SCHEMAS],
  ['oneOf', SCHEMAS],
  ['prefixItems', SCHEMAS],
  ['properties', SCHEMA_MAP],
  ['dependentSchemas', SCHEMA_MAP],
  ['patternProperties', { kind: 'patternMap' }],
]);

/** Keywords whose schemas apply to the value itself, not to its contents. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
]);

const TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);

/** Keeps the types of JSON Schema; Swagger's `file` becomes `string`. Undefined if none is left. */
function typeOf(type: unknown): string | readonly string[] | undefined {
  const all = (Array.isArray(type) ? type : [type]).map((one: unknown) => (one === 'file' ? 'string' : one));
  const known = [...new Set(all)].filter((one): one is string => TYPES.has(one));
  return known.length > 1 ? known : known[0];
}

/** Validators use Unicode mode, in which many handwritten patterns are invalid. */
export function isPattern(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  try {
    new RegExp(value, 'u');
    return true;
  } catch {
    return false;
  }
}

function isNames(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((name) => typeof name === 'string') &&
    new Set(value).size === value.length
  );
}

export type JsonSchema = boolean | Readonly<Record<string, unknown>>;
export type SchemaMembers = Readonly<Record<string, unknown>>;

/**
 * Translates what OpenAPI 3.0, and often 3.1 documents too, express differently from JSON Schema 2020-12. `raw` is as
 * written, `converted` holds the keywords that both have.
 */
export function toDraft2020(raw: SchemaMembers, converted: SchemaMembers): SchemaMembers {
  const members: Record<string, unknown> = { ...converted };
  const type = typeOf(members['type']);
  delete members['type'];
  const all: Record<string, unknown> = { ...(type !== undefined && { type }), ...members };
  fixBound(raw, all, ['minimum', 'exclusiveMinimum']);
  fixBound(raw, all, ['maximum', 'exclusiveMaximum']);
  if (raw['example'] !== undefined && all['examples'] === undefined) all['examples'] = [raw['example']];
  // 2020-12 writes tuples as `prefixItems`.
  if (Array.isArray(raw['items'])) delete all['items'];
  // A validator that ignores the discriminator may find several branches of `oneOf` valid.
  if (raw['discriminator'] !== undefined && all['oneOf'] !== undefined && all['anyOf'] === undefined) {
    all['anyOf'] = all['oneOf'];
    delete all['oneOf'];
  }
  return raw['nullable'] === true ? nullable(all) : all;
}

/** In 3.0 `exclusiveMinimum: true` modifies `minimum`. */
function fixBound(raw: SchemaMembers, all: Record<string, unknown>, names: readonly [string, string]): void {
  const [bound, exclusive] = names;
  if (raw[exclusive] !== true || all[bound] === undefined) return;
  all[exclusive] = all[bound];
  Reflect.deleteProperty(all, bound);
}

function nullable(schema: Record<string, unknown>): SchemaMembers {
  const { type, enum: values } = schema;
  if (type === undefined) {
    // By the specification `nullable` has no effect without a type, but authors of composed schemas mean it.
    const isComposed = ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => keyword in schema);
    return isComposed ? { anyOf: [schema, { type: 'null' }] } : schema;
  }
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return {
    ...schema,
    type: [...new Set([...types, 'null'])],
    ...(Array.isArray(values) && { enum: [...new Set<unknown>([...(values as readonly unknown[]), null])] }),
  };
}

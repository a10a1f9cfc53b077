import type { SchemaDrafts } from './schema-drafts.ts';
import type { JsonSchema, SchemaMembers } from './schema-fixes.ts';

/** An object of which each property can be an argument of its own. */
export interface FlatSchema {
  readonly properties: ReadonlyMap<string, JsonSchema>;
  readonly required: ReadonlySet<string>;
  /** What other properties there may be; undefined: none that anybody told of. */
  readonly others?: JsonSchema | undefined;
  readonly description?: string | undefined;
}

/** Keywords that mean the same once the properties stand beside other arguments. */
const FLAT = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'allOf',
  'title',
  'description',
  'examples',
  'default',
  'deprecated',
]);

const DEEPEST = 10;

/** Undefined for what is no such object: then its schema says more than a list of arguments can. */
export function flatSchema(schema: JsonSchema, drafts: SchemaDrafts, depth = 0): FlatSchema | undefined {
  const { schema: whole, broken } = drafts.resolve(schema);
  if (typeof whole === 'boolean' || broken !== undefined || depth > DEEPEST) return undefined;
  if (!Object.keys(whole).every((keyword) => FLAT.has(keyword))) return undefined;
  const { type, properties, required, additionalProperties, allOf, description } = whole;
  if (type !== undefined && type !== 'object') return undefined;
  if (type === undefined && properties === undefined && allOf === undefined && required === undefined)
    return undefined;
  const own: FlatSchema = {
    properties: new Map(Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>)), // as converted
    required: new Set(Array.isArray(required) ? (required as readonly string[]) : []), // as converted
    ...(isOpen(additionalProperties) && { others: additionalProperties }),
    ...(typeof description === 'string' && { description }),
  };
  if (!Array.isArray(allOf)) return own;
  // An object is closed against its own properties, and open to those that stand beside it.
  if (additionalProperties !== undefined) return undefined;
  return (allOf as readonly JsonSchema[]).reduce<FlatSchema | undefined>((sum, part) => {
    const flat = sum === undefined ? undefined : flatSchema(part, drafts, depth + 1);
    return sum === undefined || flat === undefined || isClosed(part, drafts) ? undefined : united(sum, flat);
  }, own);
}

function isOpen(others: unknown): others is true | SchemaMembers {
  return others !== undefined && others !== false;
}

function isClosed(part: JsonSchema, drafts: SchemaDrafts): boolean {
  const { schema } = drafts.resolve(part);
  return typeof schema === 'object' && schema['additionalProperties'] !== undefined;
}

/** Undefined where both have a property of one name that they do not agree on. */
function united(one: FlatSchema, other: FlatSchema): FlatSchema | undefined {
  const properties = new Map(one.properties);
  for (const [name, schema] of other.properties) {
    const former = properties.get(name);
    if (former !== undefined && JSON.stringify(former) !== JSON.stringify(schema)) return undefined;
    properties.set(name, schema);
  }
  return { ...one, properties, required: new Set([...one.required, ...other.required]) };
}

import type { Parameter } from './parameters.ts';
import type { SchemaDrafts } from './schema-definitions.ts';
import type { JsonSchema, SchemaMembers } from './schema-keywords.ts';

/** Where each argument of a tool goes in its request. */
export interface ArgumentPlan {
  readonly slots: readonly ParameterSlot[];
  readonly body: BodyArguments;
}

interface ParameterSlot {
  readonly argument: string;
  readonly parameter: Parameter;
}

type BodyArguments =
  | { readonly kind: 'none' }
  /** One argument is the whole body. */
  | { readonly kind: 'whole'; readonly argument: string }
  /** Each member is an argument; with `takesOthers`, any other argument is a member too. */
  | { readonly kind: 'members'; readonly members: readonly BodyMember[]; readonly takesOthers: boolean };

interface BodyMember {
  readonly argument: string;
  readonly property: string;
}

const BODY = 'body';

/** `flat` is the body's schema if its properties may be arguments; if undefined, a body is a single argument. */
export function planArguments(
  parameters: readonly Parameter[],
  hasBody: boolean,
  flat: FlatSchema | undefined,
): ArgumentPlan {
  const members = [...(flat?.properties.keys() ?? [])].map((property) => ({
    argument: argumentName(property),
    property,
  }));
  const slots = slotsFor(parameters, new Set());
  const names = [...slots, ...members].map(({ argument }) => argument);
  const isFlat = flat !== undefined && members.length > 0 && new Set(names).size === names.length;
  if (!hasBody) return { slots, body: { kind: 'none' } };
  if (!isFlat)
    return { slots: slotsFor(parameters, new Set([BODY])), body: { kind: 'whole', argument: BODY } };
  return { slots, body: { kind: 'members', members, takesOthers: flat.others !== undefined } };
}

/** Parameters that share a name get their location as a suffix. */
function slotsFor(parameters: readonly Parameter[], reserved: ReadonlySet<string>): readonly ParameterSlot[] {
  const counts = new Map<string, number>();
  for (const { name } of parameters) {
    const argument = argumentName(name);
    counts.set(argument, (counts.get(argument) ?? 0) + 1);
  }
  const taken = new Set(reserved);
  for (const [name, count] of counts) if (count === 1) taken.add(name);
  return parameters.map((parameter) => {
    const name = argumentName(parameter.name);
    if (counts.get(name) === 1 && !reserved.has(name)) return { argument: name, parameter };
    const base = `${name.slice(0, MAX_LENGTH - 10)}_${parameter.location}`;
    let argument = base;
    for (let count = 2; taken.has(argument); count += 1) argument = `${base}_${count}`;
    taken.add(argument);
    return { argument, parameter };
  });
}

const MAX_LENGTH = 64;

/**
 * Model APIs reject all tools of a request if one property name does not match `[a-zA-Z0-9_.-]{1,64}`. Many programs,
 * schema validators among them, do not treat `__proto__` as a property.
 */
function argumentName(name: string): string {
  if (/^[a-zA-Z0-9_.-]{1,64}$/.test(name) && name !== '__proto__') return name;
  const clean = name
    .slice(0, 4 * MAX_LENGTH)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-zA-Z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, MAX_LENGTH);
  return clean === '' ? 'value' : clean;
}

/** An object whose properties can each be an argument. */
export interface FlatSchema {
  readonly properties: ReadonlyMap<string, JsonSchema>;
  readonly required: ReadonlySet<string>;
  /** Schema of additional properties. Undefined if none are declared. */
  readonly others?: JsonSchema | undefined;
  readonly description?: string | undefined;
}

/** Keywords that keep their meaning when the properties are mixed with other arguments. */
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

const MAX_DEPTH = 10;

/** Undefined if the schema cannot be expressed as a flat list of arguments. */
export function flattenSchema(schema: JsonSchema, drafts: SchemaDrafts, depth = 0): FlatSchema | undefined {
  const { schema: whole, broken } = drafts.resolve(schema);
  if (typeof whole === 'boolean' || broken !== undefined || depth > MAX_DEPTH) return undefined;
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
  // `additionalProperties` knows only the object's own properties, not those of `allOf`.
  if (additionalProperties !== undefined) return undefined;
  return (allOf as readonly JsonSchema[]).reduce<FlatSchema | undefined>((sum, part) => {
    const flat = sum === undefined ? undefined : flattenSchema(part, drafts, depth + 1);
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

/** Undefined if they define the same property differently. */
function united(one: FlatSchema, other: FlatSchema): FlatSchema | undefined {
  const properties = new Map(one.properties);
  for (const [name, schema] of other.properties) {
    const former = properties.get(name);
    if (former !== undefined && JSON.stringify(former) !== JSON.stringify(schema)) return undefined;
    properties.set(name, schema);
  }
  return { ...one, properties, required: new Set([...one.required, ...other.required]) };
}

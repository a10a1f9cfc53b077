import type { RJSFSchema } from '@rjsf/utils';

/** The keywords that the form supports. Patterns are left out: those of a server could block the page. */
const SCALARS = [
  ...['title', 'description', 'default', 'enum', 'const', 'required', 'uniqueItems', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
];
const SCHEMAS = ['items', 'additionalProperties'];
const SCHEMA_LISTS = ['anyOf', 'oneOf', 'allOf'];
const SCHEMA_MAPS = ['properties', '$defs', 'definitions'];
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const MAX_DEPTH = 24;
const MAX_NODES = 2_000;

/** Undefined if no form can be generated from it; the arguments are then written as JSON. */
export function toArgumentSchema(schema: unknown): RJSFSchema | undefined {
  const budget = { left: MAX_NODES };
  const copy = copied(schema, { depth: 0, budget });
  if (budget.left < 0 || copy === undefined || copy === true) return undefined;
  const { type = 'object' } = copy;
  return type === 'object' ? { ...copy, type } : undefined;
}

interface Place {
  readonly depth: number;
  readonly budget: { left: number };
}

function copied(schema: unknown, { depth, budget }: Place): RJSFSchema | true | undefined {
  budget.left -= 1;
  if (budget.left < 0 || depth > MAX_DEPTH) return undefined;
  if (schema === true) return true;
  if (!isObject(schema)) return undefined;
  const below = { depth: depth + 1, budget };
  const copy: Record<string, unknown> = {};
  const keep = (key: string, value: unknown): void => {
    if (value !== undefined) copy[key] = value;
  };
  for (const key of SCALARS) keep(key, schema[key]);
  keep('type', typeIn(schema['type']));
  const { $ref } = schema;
  if (typeof $ref === 'string' && $ref.startsWith('#')) copy['$ref'] = $ref;
  for (const key of SCHEMAS) keep(key, copied(schema[key], below));
  for (const key of SCHEMA_LISTS) {
    const list = schema[key];
    if (Array.isArray(list))
      keep(
        key,
        list.map((one) => copied(one, below)).filter((one) => one !== undefined),
      );
  }
  for (const key of SCHEMA_MAPS) {
    const map = schema[key];
    if (!isObject(map)) continue;
    const entries = Object.entries(map).map(([name, one]) => [name, copied(one, below) ?? {}] as const);
    keep(key, Object.fromEntries(entries));
  }
  return copy;
}

function typeIn(type: unknown): unknown {
  const known = (one: unknown): boolean => typeof one === 'string' && TYPES.has(one);
  return known(type) || (Array.isArray(type) && type.every(known)) ? type : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

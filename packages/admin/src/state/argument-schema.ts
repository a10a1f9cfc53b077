import { parsePointerFragment } from '@assay-mcp/kit/json-pointer';
import { toPrintable } from '@assay-mcp/kit/printable';
import { truncateText } from '@assay-mcp/kit/shorten';
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
  if (type !== 'object') return undefined;
  nameAlternatives(copy);
  return { ...copy, type };
}

/**
 * A reference in the schema, such as `#/$defs/Filter`, to a part that it does not have. Undefined if there is none where
 * the form would follow it.
 */
export function findMissingPart(schema: unknown): string | undefined {
  return findMissingIn(copied(schema, { depth: 0, budget: { left: MAX_NODES } }), schema);
}

function findMissingIn(copy: unknown, root: unknown): string | undefined {
  if (!isObject(copy)) return undefined;
  const { $ref } = copy;
  if (typeof $ref === 'string' && $ref.startsWith('#/') && !hasPart(root, $ref)) return $ref;
  const below: readonly unknown[] = [
    ...SCHEMAS.map((key) => copy[key]),
    ...[...SCHEMA_MAPS, ...SCHEMA_LISTS].flatMap((key): readonly unknown[] => Object.values(copy[key] ?? {})),
  ];
  for (const one of below) {
    const missing = findMissingIn(one, root);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

function hasPart(root: unknown, fragment: string): boolean {
  let node = root;
  for (const key of parsePointerFragment(fragment) ?? []) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return false;
    node = (node as Schema)[key];
  }
  return true;
}

/** Gives each alternative below a title, so that a person can choose among them. */
function nameAlternatives(root: RJSFSchema): void {
  const visit = (schema: unknown): void => {
    if (!isObject(schema)) return;
    for (const key of SCHEMAS) visit(schema[key]);
    for (const key of SCHEMA_MAPS) Object.values(schema[key] ?? {}).forEach(visit);
    for (const key of SCHEMA_LISTS) if (Array.isArray(schema[key])) schema[key].forEach(visit);
    for (const key of ['anyOf', 'oneOf'] as const) {
      const list = schema[key];
      if (!Array.isArray(list)) continue;
      const names = list.map((one) => nameAlternative(one, root));
      list.forEach((one: unknown, at) => {
        const name = names[at] ?? '';
        const isUnique = names.indexOf(name) === names.lastIndexOf(name);
        if (isObject(one))
          list[at] = { ...one, title: name === '' || !isUnique ? `${name} ${at + 1}`.trim() : name };
      });
    }
  };
  visit(root);
}

const MAX_NAME_LENGTH = 60;

/** Its title, its constant, its required members, or its type. Empty if it has none of these. */
function nameAlternative(alternative: unknown, root: RJSFSchema): string {
  const schema = resolve(alternative, root);
  const name = [...namesOf(schema, root)].find((one) => one !== undefined && one !== '') ?? '';
  return truncateText(toPrintable(name), MAX_NAME_LENGTH);
}

function* namesOf(schema: Schema, root: RJSFSchema): Generator<string | undefined> {
  yield readText(schema['title']);
  yield formatConstant(schema);
  const { properties, required } = schema;
  const members = Array.isArray(required) ? required.filter((one) => typeof one === 'string') : [];
  // Alternatives are often told apart by a member such as `type` that has one value.
  if (isObject(properties))
    for (const member of members) yield formatConstant(resolve(properties[member], root));
  yield members.length === 0 ? undefined : members.join(', ');
  const { type } = schema;
  yield Array.isArray(type) ? type.join(' or ') : readText(type);
}

function formatConstant(schema: Schema): string | undefined {
  const { const: constant, enum: values } = schema;
  if (Array.isArray(values) && values.length === 1) return String(values[0]);
  return constant === undefined
    ? undefined
    : typeof constant === 'string'
      ? constant
      : JSON.stringify(constant);
}

type Schema = Readonly<Record<string, unknown>>;

/** Follows references within the root, but not without end. */
function resolve(schema: unknown, root: RJSFSchema): Schema {
  let now = schema;
  for (let steps = 0; steps < MAX_DEPTH && isObject(now); steps += 1) {
    const { $ref } = now;
    if (typeof $ref !== 'string') return now;
    now = ($ref.slice(2).split('/') as readonly string[]).reduce<unknown>(
      (node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined),
      root,
    );
  }
  return {};
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * The arguments without members that the user has not touched: those without a value, and empty objects that the form
 * made for them or left behind. What the user has written as JSON stays.
 */
export function omitUntouched(value: unknown, before: unknown): unknown {
  if (Array.isArray(value))
    return value.map((one, at) => omitUntouched(one, Array.isArray(before) ? before[at] : undefined));
  if (!isObject(value)) return value;
  const former = isObject(before) ? before : {};
  const entries = Object.entries(value).flatMap(([key, member]) => {
    const was = Object.hasOwn(former, key) ? former[key] : undefined;
    const now = omitUntouched(member, was);
    const isLeft = now === undefined || (isEmpty(now) && !isEmpty(was));
    return isLeft ? [] : [[key, now] as const];
  });
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/** What a form begins with: of the members that must be sent, those whose value the schema states. */
export function buildInitialArguments({ properties, required = [] }: RJSFSchema): Schema {
  const entries = required.flatMap((member) => {
    const schema =
      properties !== undefined && Object.hasOwn(properties, member) ? properties[member] : undefined;
    if (!isObject(schema)) return [];
    const value = schema['const'] ?? schema['default'];
    return value === undefined ? [] : [[member, value] as const];
  });
  return Object.fromEntries(entries);
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

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

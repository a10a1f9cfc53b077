import { generateSync } from 'json-schema-faker';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { type ArgumentContext, listStrings } from './heuristics.ts';
import { parsePointerFragment } from '@assay-mcp/kit/json-pointer';
import { listChoices, listExamples } from './described-values.ts';
import { ENDS } from './knowledge.ts';
import { kindOfTool, splitName, toSingular } from './tool-words.ts';

/** The origins of values, most trustworthy first. */
export const ORIGINS = ['recorded', 'fixture', 'example', 'chained', 'heuristic', 'generated'] as const;
export type Origin = (typeof ORIGINS)[number];

export interface Generated {
  readonly value: unknown;
  /** The least trustworthy origin among its parts. */
  readonly origin: Origin;
}

/** What the answers to failed calls say about arguments. Keys are paths of members, such as `filter.name`. */
export interface Adjustments {
  /** How many of the likeliest values of a parameter are passed over. */
  readonly passed: ReadonlyMap<string, number>;
  readonly values: ReadonlyMap<string, unknown>;
  /** Members that are given although the schema does not require them. */
  readonly included: ReadonlySet<string>;
  readonly omitted: ReadonlySet<string>;
}

export const NO_ADJUSTMENTS: Adjustments = {
  passed: new Map(),
  values: new Map(),
  included: new Set(),
  omitted: new Set(),
};

export interface Generation {
  readonly context: ArgumentContext;
  /** Which of the likely values is taken, from 0. */
  readonly variant: number;
  /** Whether optional properties get values. */
  readonly isFull: boolean;
  /** The name of the tool. */
  readonly tool: string;
  readonly adjustments: Adjustments;
  /** The whole schema, in which `$ref` is resolved. */
  readonly root: JsonObject;
}

interface Place extends Generation {
  /** How deep in the arguments the value is. */
  readonly depth: number;
  readonly path: string;
  readonly siblings: readonly string[];
  /** Values that may still be generated. */
  readonly budget: { left: number };
}

/** Deeper parts of a schema are left to the generator. */
const MAX_DEPTH = 6;
const MAX_GENERATED = 2_000;
const MAX_OPTIONS = 24;
const MAX_PROPERTIES = 100;

/** Arguments for the schema of a tool. Throws if no value can be generated from the schema. */
export function generateArguments(given: Generation): Generated {
  const place = { ...given, depth: 0, path: '', siblings: [], budget: { left: MAX_GENERATED } };
  return generateValue(given.root, '', place);
}

/** Likely values for one member of the arguments, likeliest first. */
export function listValues(schema: unknown, name: string, given: Generation): readonly Generated[] {
  const place = { ...given, depth: 1, path: name, siblings: [], budget: { left: MAX_GENERATED } };
  const own = resolveSchema(schema, given.root);
  if (isScalar(own)) return optionsOf(own, name, place);
  return [generateValue(own, name, place)];
}

function generateValue(schema: unknown, name: string, given: Place): Generated {
  const { depth, path, adjustments, variant, budget } = given;
  budget.left -= 1;
  if (budget.left < 0) throw new Error('the schema describes too many values');
  if (adjustments.values.has(path) && path !== '')
    return { value: adjustments.values.get(path), origin: 'chained' };
  const own = resolveSchema(schema, given.root);
  const deeper = { ...given, depth: depth + 1 };
  const at = variant + (adjustments.passed.get(path) ?? 0);
  const stated = isScalar(own) ? undefined : statedValues(own).find((value) => !isEmpty(value));
  if (stated !== undefined) return { value: stated, origin: 'example' };
  if (isJsonObject(own['properties']) && depth < MAX_DEPTH)
    return generateObject(own, own['properties'], deeper);
  const branches: readonly unknown[] = [own['anyOf'], own['oneOf']].find(Array.isArray) ?? [];
  if (branches.length > 0 && depth < MAX_DEPTH)
    return generateValue(branches[at % branches.length], name, deeper);
  const type = readType(own);
  if (type === 'array' && depth < MAX_DEPTH) return generateList(own, name, deeper);
  if (type === 'object')
    return [...adjustments.included].some((one) => path !== '' && one.startsWith(`${path}.`))
      ? generateObject(own, {}, deeper)
      : generateMap(own, deeper);
  const options = optionsOf(own, name, given);
  return options[at % options.length] ?? generated(own, variant);
}

function generateObject(schema: JsonObject, properties: JsonObject, given: Place): Generated {
  const { path, isFull, depth } = given;
  const { included, omitted } = given.adjustments;
  const required = requiredOf(schema);
  const pathOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const known = Object.keys(properties).slice(0, MAX_PROPERTIES);
  const prefix = path === '' ? '' : `${path}.`;
  const extra = [...included]
    .filter((one) => one.startsWith(prefix) && !one.slice(prefix.length).includes('.'))
    .map((one) => one.slice(prefix.length));
  const wanted = known.filter((name) => isFull || required.includes(name) || included.has(pathOf(name)));
  // An empty object says nothing: a filter needs one condition.
  const least = wanted.length === 0 && depth > 1 ? known.slice(0, 1) : wanted;
  const names = [...new Set([...least, ...extra])].filter((name) => !omitted.has(pathOf(name)));
  const parts: (readonly [name: string, part: Generated])[] = [];
  for (const name of names) {
    const generate = (variant: number): Generated =>
      generateValue(properties[name] ?? { type: 'string' }, name, {
        ...given,
        ...{ path: pathOf(name), siblings: known, variant },
      });
    const first = generate(given.variant);
    const isRepeated =
      (first.origin === 'chained' || typeof first.value === 'number') &&
      parts.some(([other, { value }]) => value === first.value && areOfOneKind(name, other, given));
    const next = isRepeated ? generate(given.variant + 1) : first;
    parts.push([name, next.origin === first.origin ? next : first]);
  }
  return {
    value: Object.fromEntries(parts.map(([name, { value }]) => [name, value])),
    origin: findWeakest(parts.map(([, part]) => part)),
  };
}

/**
 * Whether two parameters name two things of one kind: `keep_id` and `duplicate_id`, `bed_a` and `bed_b`, `from` and `to`,
 * but not `project_id` and `task_id` if both are known.
 */
function areOfOneKind(one: string, other: string, { context, tool }: Place): boolean {
  const [words, others] = [splitName(one), splitName(other)];
  if (words.length === 1) return ENDS.has(one.toLowerCase()) && ENDS.has(other.toLowerCase());
  const different = words.filter((word, at) => word !== others[at]).length;
  const find = (name: string): unknown => context.knowledge.find(name, tool)[0]?.known;
  // Equal values of different kinds were found apart.
  return words.length === others.length && different === 1 && find(one) === find(other);
}

function requiredOf(schema: JsonObject): readonly unknown[] {
  const branches: readonly unknown[] = [schema['anyOf'], schema['oneOf']].find(Array.isArray) ?? [];
  const first = branches[0];
  return [schema, first].flatMap((one): readonly unknown[] =>
    isJsonObject(one) && Array.isArray(one['required']) ? one['required'] : [],
  );
}

/** A closed line of positions (RFC 7946), which also is a list of points and of pairs. */
const RING = [
  [1, 1],
  [1, 2],
  [2, 2],
  [1, 1],
];

function generateList(schema: JsonObject, name: string, given: Place): Generated {
  const fixed: readonly unknown[] = [schema['prefixItems'], schema['items']].find(Array.isArray) ?? [];
  if (fixed.length > 0) {
    const parts = fixed.slice(0, MAX_OPTIONS).map((item) => generateValue(item, toSingular(name), given));
    return { value: parts.map(({ value }) => value), origin: findWeakest(parts) };
  }
  if (isListOfNumbers(resolveSchema(schema['items'], given.root), given.root))
    return { value: RING, origin: 'heuristic' };
  const items = isJsonObject(schema['items']) ? schema['items'] : { type: 'string' };
  const count = Math.min(Math.max(Number(schema['minItems'] ?? 1), 1), 5);
  const parts = Array.from({ length: count }, (_, at) =>
    generateValue(items, toSingular(name), { ...given, variant: given.variant + at }),
  );
  return { value: parts.map(({ value }) => value), origin: findWeakest(parts) };
}

function isListOfNumbers(schema: JsonObject, root: JsonObject): boolean {
  const isNumber = (item: unknown): boolean =>
    ['integer', 'number'].includes(readType(resolveSchema(item, root)) ?? '');
  const items: readonly unknown[] = [schema['prefixItems'], schema['items']].flat();
  const given = items.filter((item) => item !== undefined);
  return readType(schema) === 'array' && given.length > 0 && given.every(isNumber);
}

function generateMap(schema: JsonObject, given: Place): Generated {
  const member = schema['additionalProperties'];
  if (!isJsonObject(member) || given.depth >= MAX_DEPTH) return { value: {}, origin: 'heuristic' };
  const { value, origin } = generateValue(member, 'name', { ...given, path: `${given.path}.name` });
  return { value: { name: value }, origin };
}

function isScalar(schema: JsonObject): boolean {
  const type = readType(schema);
  return (
    type !== 'object' &&
    type !== 'array' &&
    !isJsonObject(schema['properties']) &&
    !Array.isArray(schema['anyOf']) &&
    !Array.isArray(schema['oneOf'])
  );
}

/** An empty list or object, which says nothing if it is given. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Values that the author of the schema wrote: a constant, the default, examples, or an enumeration. */
function statedValues(schema: JsonObject): readonly unknown[] {
  if (Object.hasOwn(schema, 'const')) return [schema['const']];
  const examples: readonly unknown[] = Array.isArray(schema['examples']) ? schema['examples'] : [];
  return [
    ...(Object.hasOwn(schema, 'default') && schema['default'] !== null ? [schema['default']] : []),
    ...examples,
    ...(Object.hasOwn(schema, 'example') ? [schema['example']] : []),
  ];
}

/** Likely values of a string, number or boolean. At least one, unless the generator fails. */
function optionsOf(schema: JsonObject, name: string, given: Place): readonly Generated[] {
  const type = readType(schema);
  if (type === 'null') return [{ value: null, origin: 'heuristic' }];
  const stated = statedValues(schema).map((value) => ({ value, origin: 'example' as const }));
  const { enum: values } = schema;
  if (Array.isArray(values) && values.length > 0)
    return [
      ...stated,
      ...easiestFirst<unknown>(values).map((value) => ({ value, origin: 'example' as const })),
    ].slice(0, MAX_OPTIONS);
  if (Object.hasOwn(schema, 'const')) return stated;
  if (type === 'boolean') return [...stated, ...booleans(name)];
  const chained = chainedValues(name, type, given);
  const own = stringsOrNumbers(schema, name, given);
  const isPlain = own.length === 1 && own[0]?.value === 'apple';
  const options = [
    ...chained.sure,
    ...stated,
    ...(isPlain ? [...chained.unsure, ...own] : [...own, ...chained.unsure]),
  ];
  const known = options.map(({ value }) => value);
  const all = options.filter(({ value }, at) => known.indexOf(value) === at).slice(0, MAX_OPTIONS);
  return all.length > 0 ? all : [generated(schema, given.variant)];
}

/** What needs least besides: an action that takes no other argument, a database that is a file. */
const EASY: ReadonlySet<unknown> = new Set(['list', 'status', 'help', 'sqlite']);

function easiestFirst<T>(values: readonly T[]): readonly T[] {
  return [...values.filter((value) => EASY.has(value)), ...values.filter((value) => !EASY.has(value))];
}

function booleans(name: string): readonly Generated[] {
  const isConsent = splitName(name).some((word) =>
    ['confirm', 'confirmed', 'acknowledge', 'consent'].includes(word),
  );
  return [isConsent, !isConsent].map((value) => ({ value, origin: 'heuristic' }));
}

function stringsOrNumbers(schema: JsonObject, name: string, given: Place): readonly Generated[] {
  const type = readType(schema);
  if (type === 'integer' || type === 'number') {
    const number = smallNumber(schema, given.variant);
    return number === undefined ? [] : [{ value: number, origin: 'heuristic' }];
  }
  const { tool, siblings, context } = given;
  const toExample = (value: string): Generated => ({ value, origin: 'example' });
  const choices = easiestFirst(listChoices(schema)).map(toExample);
  const described = listExamples(schema).map(toExample);
  const likely = listStrings({ name, schema, tool, siblings }, context)
    .map((text) => padOrCut(text, schema))
    .map((value) => ({ value, origin: 'heuristic' as const }));
  // A pattern is not evaluated here: it is the server's, and may take very long.
  if (schema['pattern'] !== undefined) return [...choices, ...described, generated(schema, given.variant)];
  const plain =
    type === 'string' && likely.length === 0
      ? [{ value: padOrCut('apple', schema), origin: 'heuristic' as const }]
      : [];
  return [...choices, ...likely.slice(0, 2), ...described, ...likely.slice(2), ...plain];
}

function generated(schema: JsonObject, variant: number): Generated {
  const options = { seed: variant + 1, refDepthMax: 2, maxDepth: 5, maxDefaultItems: 2 };
  return { value: generateSync({ ...schema }, options), origin: 'generated' };
}

interface Chained {
  readonly sure: readonly Generated[];
  readonly unsure: readonly Generated[];
}

/** Values that other tools returned or took. */
function chainedValues(name: string, type: string | undefined, { context, tool }: Place): Chained {
  const isNumber = type === 'integer' || type === 'number';
  const found = context.knowledge.find(name, tool).filter(({ known: { value } }) => fits(value, type));
  const of = (isSure: boolean): readonly Generated[] =>
    found
      .filter((one) => one.isSure === isSure)
      .map(({ known: { value } }) => ({
        value: isNumber ? Number(value) : type === 'string' ? String(value) : value,
        origin: 'chained',
      }));
  // A tool that creates something takes a new name, not one that exists.
  const words = splitName(name);
  const isOwn =
    (kindOfTool(tool) === 'creates' && words.length === 1) ||
    words.some((word) => ['new', 'dst', 'dest', 'destination'].includes(word));
  return isOwn
    ? { sure: [], unsure: [...of(true), ...of(false)] }
    : { sure: of(true), unsure: isNumber ? [] : of(false) };
}

function fits(value: string | number, type: string | undefined): boolean {
  if (type === 'integer') return Number.isInteger(Number(value)) && value !== '';
  if (type === 'number') return Number.isFinite(Number(value)) && value !== '';
  return type === undefined || type === 'string';
}

/** Adjustments with which a call may take less time: durations, amounts and other numbers are small. */
export function withSmallNumbers(inputSchema: JsonObject, adjustments: Adjustments): Adjustments {
  const { properties } = resolveSchema(inputSchema, inputSchema);
  const members = Object.entries(isJsonObject(properties) ? properties : {}).slice(0, MAX_PROPERTIES);
  const numbers = members.flatMap(([name, member]) => {
    const schema = resolveSchema(member, inputSchema);
    const isNumber = ['integer', 'number'].includes(readType(schema) ?? '');
    const number = isNumber ? smallNumber(schema, 0) : undefined;
    return number === undefined ? [] : [[name, number] as const];
  });
  const names = numbers.map(([name]) => name);
  return {
    ...adjustments,
    values: new Map([...adjustments.values, ...numbers]),
    included: new Set([...adjustments.included, ...names]),
    omitted: new Set([...adjustments.omitted].filter((name) => !names.includes(name))),
  };
}

/** A small number within the bounds. Undefined if none of the first few is allowed. */
function smallNumber(schema: JsonObject, variant: number): number | undefined {
  const bound = (key: string, otherwise: number): number =>
    typeof schema[key] === 'number' ? schema[key] : otherwise;
  const step = bound('multipleOf', 1);
  const low = Math.max(bound('minimum', -Infinity), bound('exclusiveMinimum', -Infinity));
  const candidates = [1 + variant, 1, 2, 0, low, low + step].map((value) => Math.ceil(value / step) * step);
  const isAllowed = (value: number): boolean =>
    Number.isFinite(value) &&
    value >= bound('minimum', -Infinity) &&
    value > bound('exclusiveMinimum', -Infinity) &&
    value <= bound('maximum', Infinity) &&
    value < bound('exclusiveMaximum', Infinity);
  return candidates.find(isAllowed) ?? [bound('maximum', NaN), low + step / 2].find(isAllowed);
}

/** The text with an allowed length. */
function padOrCut(text: string, { minLength, maxLength }: JsonObject): string {
  const least = Math.min(Number(minLength ?? 0), 10_000);
  const long = text.length >= least ? text : text.padEnd(least, ` ${text}`);
  return typeof maxLength === 'number' ? long.slice(0, maxLength) : long;
}

export function readType({ type }: JsonObject): string | undefined {
  const first: unknown = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
  return typeof first === 'string' ? first : undefined;
}

/** Follows a `$ref` within the schema, and joins the parts of `allOf`. */
export function resolveSchema(schema: unknown, root: JsonObject): JsonObject {
  let found: unknown = schema;
  for (let steps = 0; steps < 8 && isJsonObject(found) && typeof found['$ref'] === 'string'; steps += 1) {
    if (!found['$ref'].startsWith('#/')) return found;
    const keys = parsePointerFragment(found['$ref']);
    const { $ref } = found;
    found = keys?.reduce<unknown>(
      (at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      root,
    );
    // Not a part that accepts everything.
    if (found === undefined) throw new Error(`${$ref} names nothing in the schema`);
  }
  if (!isJsonObject(found)) return {};
  const { allOf, ...rest } = found;
  if (!Array.isArray(allOf)) return found;
  return allOf
    .slice(0, 10)
    .filter(isJsonObject)
    .map((part) => ('$ref' in part ? resolveSchema(part, root) : part))
    .reduce(joinSchemas, rest);
}

function joinSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const members = (schema: JsonObject): JsonObject =>
    isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = (schema: JsonObject): readonly unknown[] =>
    Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = { ...members(one), ...members(other) };
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    required: [...required(one), ...required(other)],
  };
}

export function findWeakest(parts: readonly Pick<Generated, 'origin'>[]): Origin {
  const ranks = parts.map(({ origin }) => ORIGINS.indexOf(origin));
  return ORIGINS[Math.max(ORIGINS.indexOf('example'), ...ranks)] ?? 'generated';
}

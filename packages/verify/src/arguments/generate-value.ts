import { generateSync } from 'json-schema-faker';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { type ArgumentContext, generateString, splitName } from './heuristics.ts';
import { parsePointerFragment } from '@assay-mcp/kit/json-pointer';

/** The origins of values, most trustworthy first. */
export const ORIGINS = ['recorded', 'fixture', 'example', 'chained', 'heuristic', 'generated'] as const;
export type Origin = (typeof ORIGINS)[number];

export interface Generated {
  readonly value: unknown;
  /** The least trustworthy origin among its parts. */
  readonly origin: Origin;
}

interface Generation {
  readonly context: ArgumentContext;
  /** Seed of the generator; also chooses among equally good values. */
  readonly variant: number;
  /** Whether optional properties get values. */
  readonly isFull: boolean;
  readonly about: string;
  /** The whole schema, in which `$ref` is resolved. */
  readonly root: JsonObject;
  /** How deep in the arguments the value is. */
  readonly depth: number;
}

/** Deeper parts of a schema are left to the generator. */
const MAX_DEPTH = 6;

/** A value for a schema. Throws if no value can be generated from the schema. */
export function generateValue(schema: unknown, name: string, given: Generation): Generated {
  const { depth } = given;
  const deeper = { ...given, depth: depth + 1 };
  const own = resolved(schema, given.root);
  const stated = statedValue(own, given.variant);
  if (stated !== undefined) return { value: stated.value, origin: 'example' };
  const properties = own['properties'];
  if (isJsonObject(properties) && depth < MAX_DEPTH) return generateObject(own, properties, deeper);
  const type = typeOf(own);
  if (type === 'array' && isJsonObject(own['items']) && depth < MAX_DEPTH) {
    const count = Math.min(Math.max(Number(own['minItems'] ?? 1), 1), 5);
    const parts = Array.from({ length: count }, (_, at) =>
      generateValue(own['items'], singular(name), { ...deeper, variant: given.variant + at }),
    );
    return { value: parts.map(({ value }) => value), origin: findWeakest(parts) };
  }
  const branches: readonly unknown[] = [own['anyOf'], own['oneOf']].find(Array.isArray) ?? [];
  if (branches.length > 0 && depth < MAX_DEPTH) return generateValue(branches[0], name, deeper);
  return scalar(own, name, given);
}

function generateObject(schema: JsonObject, properties: JsonObject, given: Generation): Generated {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = Object.keys(properties).filter((name) => given.isFull || required.includes(name));
  const parts = names.map((name) => [name, generateValue(properties[name], name, given)] as const);
  return {
    value: Object.fromEntries(parts.map(([name, { value }]) => [name, value])),
    origin: findWeakest(parts.map(([, part]) => part)),
  };
}

/** A value that the author of the schema wrote: a constant, an example, the default, or one of an enumeration. */
function statedValue(schema: JsonObject, variant: number): { readonly value: unknown } | undefined {
  if (Object.hasOwn(schema, 'const')) return { value: schema['const'] };
  for (const list of [schema['examples'], schema['enum']]) {
    if (list === schema['enum'] && Object.hasOwn(schema, 'default')) break;
    if (Array.isArray(list) && list.length > 0) return { value: list[variant % list.length] };
  }
  if (Object.hasOwn(schema, 'example')) return { value: schema['example'] };
  return Object.hasOwn(schema, 'default') ? { value: schema['default'] } : undefined;
}

function scalar(schema: JsonObject, name: string, given: Generation): Generated {
  const type = typeOf(schema);
  const chained = chainedValue(name, type, given);
  if (chained !== undefined) return { value: chained, origin: 'chained' };
  if (type === 'string' && schema['pattern'] === undefined) {
    const text = generateString({ name, schema, about: given.about }, given.context, given.variant);
    if (text !== undefined && isLengthAllowed(text, schema)) return { value: text, origin: 'heuristic' };
  }
  if (type === 'boolean') return { value: given.variant % 2 === 1, origin: 'heuristic' };
  if (type === 'integer' || type === 'number') {
    const number = smallNumber(schema, given.variant);
    if (number !== undefined) return { value: number, origin: 'heuristic' };
  }
  const options = { seed: given.variant + 1, refDepthMax: 2, maxDepth: 5, maxDefaultItems: 2 };
  return { value: generateSync({ ...schema }, options), origin: 'generated' };
}

function chainedValue(name: string, type: string | undefined, { context, variant }: Generation): unknown {
  const words = splitName(name);
  // `user_id` is also satisfied by the `id` that a list of users returned.
  const keys = [words.join('_'), ...(words.length > 1 ? [words.at(-1) ?? ''] : [])];
  for (const key of keys.flatMap((one) => [one, singular(one)])) {
    const fitting = (context.seen.get(key) ?? []).filter((value) => fits(value, type));
    if (fitting.length > 0) return fitting[variant % fitting.length];
  }
  return undefined;
}

function fits(value: unknown, type: string | undefined): boolean {
  return type === 'integer' ? Number.isInteger(value) : type === undefined || typeof value === type;
}

/** A small number within the bounds. Undefined if none of the first few is allowed. */
function smallNumber(schema: JsonObject, variant: number): number | undefined {
  const bound = (key: string, otherwise: number): number =>
    typeof schema[key] === 'number' ? schema[key] : otherwise;
  const step = bound('multipleOf', 1);
  const low = Math.max(bound('minimum', -Infinity), bound('exclusiveMinimum', -Infinity));
  const candidates = [1 + variant, 1, 2, 0, low, low + step].map((value) => Math.ceil(value / step) * step);
  return candidates.find(
    (value) =>
      Number.isFinite(value) &&
      value >= bound('minimum', -Infinity) &&
      value > bound('exclusiveMinimum', -Infinity) &&
      value <= bound('maximum', Infinity) &&
      value < bound('exclusiveMaximum', Infinity),
  );
}

function isLengthAllowed(text: string, { minLength, maxLength }: JsonObject): boolean {
  return text.length >= Number(minLength ?? 0) && text.length <= Number(maxLength ?? Infinity);
}

function typeOf({ type }: JsonObject): string | undefined {
  const first: unknown = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
  return typeof first === 'string' ? first : undefined;
}

/** Follows a `$ref` within the schema. */
function resolved(schema: unknown, root: JsonObject): JsonObject {
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
  return isJsonObject(found) ? found : {};
}

export function findWeakest(parts: readonly Pick<Generated, 'origin'>[]): Origin {
  const ranks = parts.map(({ origin }) => ORIGINS.indexOf(origin));
  return ORIGINS[Math.max(ORIGINS.indexOf('example'), ...ranks)] ?? 'generated';
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '');
}

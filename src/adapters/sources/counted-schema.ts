import { isMembers } from '../../core/canonical-json.ts';

/** A keyword of ours, which counts how often a part of a schema is looked at. */
export const STEPS = 'x-assay-steps';

/** Steps of one look at any value, and what of a value is gone through beside. */
export type Steps = readonly [weight: number, walks: number];

type Members = Readonly<Record<string, unknown>>;

/** The same schema with `STEPS` in each part of it, wherever a reference may lead. */
export function countedSchema(schema: object): Members {
  return { ...countedMembers(schema, false), [STEPS]: [weightOf(schema), walksOf(schema)] satisfies Steps };
}

/** What it takes to go through a value once. */
export function stepsThrough(value: unknown, walks: number): number {
  if (walks === 0) return 0;
  if (typeof value === 'string') return (walks & TEXT) === 0 ? 0 : value.length;
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return (walks & ITEMS) === 0 ? 0 : value.length;
  return (walks & KEYS) === 0 ? 0 : 4 * Object.keys(value).length;
}

const TEXT = 1;
const ITEMS = 2;
const KEYS = 4;

const WALKS: ReadonlyMap<string, number> = new Map([
  ['minLength', TEXT],
  ['maxLength', TEXT],
  ['contains', ITEMS],
  ['additionalProperties', KEYS],
  ['maxProperties', KEYS],
  ['minProperties', KEYS],
  ['patternProperties', KEYS],
  ['propertyNames', KEYS],
  ['unevaluatedProperties', KEYS],
]);

function walksOf(part: object): number {
  return Object.keys(part).reduce((walks, keyword) => walks | (WALKS.get(keyword) ?? 0), 0);
}

/** Hold values, or lists of names, and no schema. */
const BARE: ReadonlySet<string> = new Set([
  ...['const', 'default', 'dependentRequired', 'enum', 'example', 'examples', 'required', 'type'],
  '$vocabulary',
]);
/** Hold schemas by names that are no keywords. */
const BY_NAME: ReadonlySet<string> = new Set([
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'],
]);

function countedMembers(members: object, areNames: boolean): Members {
  return Object.fromEntries(
    Object.entries(members).map(([key, value]: [string, unknown]) => [
      key,
      !areNames && BARE.has(key) ? value : counted(value, !areNames && BY_NAME.has(key)),
    ]),
  );
}

function counted(value: unknown, isByName: boolean): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => counted(one, false));
  if (!isMembers(value)) return value;
  return isByName ? countedMembers(value, true) : countedSchema(value);
}

const EACH = 8;

/** A part looks at each of its keywords, and at each of what they list. */
function weightOf(part: object): number {
  return EACH * Object.values(part).reduce((sum: number, value) => sum + 1 + sizeOf(value), 1);
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

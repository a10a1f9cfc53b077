import { createRequire } from 'node:module';
import type { Ajv2020, _ as codeOf, Options } from 'ajv/dist/2020.js';
import type * as re2 from 're2js';
import { canonicalJson, isMembers } from '../../core/canonical-json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { CompileSchema, SchemaFault } from '../../gateway/ports/compile-schema.ts';
import { isDeeper, type JsonObject } from '../../core/json-object.ts';

/**
 * Checks by JSON Schema 2020-12, or by draft 7 where the schema says so. Throws where it is no such schema. A schema that
 * is too large to be compiled refuses nothing; a check that takes too many steps refuses its value.
 */
export const compileSchema: CompileSchema = (schema) => {
  if (!isCheckable(schema)) return () => undefined;
  const steps = new StepCount();
  const validate = compiled(schema, steps);
  return (value) => {
    steps.start();
    try {
      return validate(value) ? undefined : faultOf(validate.errors?.[0]);
    } catch (error) {
      if (error instanceof TooManySteps) return { path: [], reason: 'it takes too long to check' };
      if (error instanceof RangeError) return { path: [], reason: 'it is nested too deeply to be checked' };
      throw error;
    }
  };
};

/** The same, where a schema that is none is to be expected; the error is what is wrong with it. */
export function checkBy(schema: object): Result<ReturnType<CompileSchema>, string> {
  try {
    return ok(compileSchema(schema));
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

type Dialect = 'current' | 'draft7';
type Validate = ReturnType<Ajv2020['compile']>;
type Fault = NonNullable<Validate['errors']>[number];

const DRAFT_7 = /^http:\/\/json-schema\.org\/draft-07\/schema#?$/;
/** By these schemas themselves are judged. What a dialect needs is loaded when the first schema of it comes. */
const judges: Partial<Record<Dialect, Ajv2020>> = {};

/** Ajv keeps all that it ever compiled, so each schema has an Ajv of its own, which ends with it. */
function compiled(schema: object, steps: StepCount): Validate {
  const dialect = '$schema' in schema && DRAFT_7.test(String(schema.$schema)) ? 'draft7' : 'current';
  const judge = (judges[dialect] ??= open(dialect, {}));
  if (judge.validateSchema(schema) !== true) throw new Error(`schema is invalid: ${judge.errorsText()}`);
  const regExp = Object.assign((pattern: string) => linearPattern(pattern, steps), { code: 'linearPattern' });
  // An optimised check runs no faster, and takes ten times as long to make.
  const ajv = open(dialect, {
    validateSchema: false,
    inlineRefs: false,
    ownProperties: true,
    code: { optimize: false, regExp },
  });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    validate: (isWanted: unknown, items: readonly unknown[]) => isWanted !== true || areUnique(items, steps),
    error: { message: 'must NOT have duplicate items' },
  });
  addSteps(ajv, dialect, steps);
  return ajv.compile(countedSchema(schema));
}

function addSteps(ajv: Ajv2020, dialect: Dialect, steps: StepCount): void {
  const { _ } = ajvOf(dialect);
  const take = (weight: number, walks: number, value: unknown): true =>
    steps.take(weight + stepsThrough(value, walks));
  ajv.addKeyword({
    keyword: STEPS,
    // The first of all: what a reference leads to may be without end.
    before: dialect === 'current' ? '$dynamicAnchor' : '$comment',
    code: ({ gen, data, schema }) => {
      const [weight, walks] = schema as Steps; // `countedSchema` wrote it
      gen.code(_`${gen.scopeValue('func', { ref: take, key: STEPS })}(${weight}, ${walks}, ${data})`);
    },
  });
}

function open(dialect: Dialect, more: Options): Ajv2020 {
  // A format that is not known is no fault of a value.
  return new (ajvOf(dialect).Ajv)({ strict: false, logger: false, ...more });
}

interface AjvModule {
  readonly Ajv: typeof Ajv2020;
  readonly _: typeof codeOf;
}

function ajvOf(dialect: Dialect): AjvModule {
  // Synchronous, as whoever needs it needs it at once, and at no start.
  const require = createRequire(import.meta.url);
  if (dialect === 'draft7') return require('ajv') as AjvModule;
  const { Ajv2020: Ajv, _ } = require('ajv/dist/2020.js') as {
    readonly Ajv2020: typeof Ajv2020;
    readonly _: typeof codeOf;
  };
  return { Ajv, _ };
}

/** Ajv compares each with each. */
function areUnique(items: readonly unknown[], steps: StepCount): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = canonicalJson(item);
    steps.take(text.length);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

function faultOf(fault: Fault | undefined): SchemaFault {
  const path = (fault?.instancePath ?? '').split('/').slice(1).map(unescaped);
  const missing: unknown = fault?.params['missingProperty'];
  if (typeof missing === 'string') return { path: [...path, missing], reason: 'it is missing' };
  return { path, reason: reasonOf(fault) };
}

function reasonOf(fault: Fault | undefined): string {
  const { keyword, message = 'does not fit', params } = fault ?? {};
  const other = params?.['additionalProperty'] as unknown;
  if (keyword === 'additionalProperties') return `it has no member ${JSON.stringify(other)}`;
  return `it ${message}`;
}

/** RFC 6901, section 4. */
function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A keyword of ours, which counts how often a part of a schema is looked at. */
const STEPS = 'x-assay-steps';

/** Steps of one look at any value, and what of a value is gone through beside. */
type Steps = readonly [weight: number, walks: number];

/** The same schema with `STEPS` in each part of it, wherever a reference may lead. */
function countedSchema(schema: object): JsonObject {
  return { ...countedMembers(schema, false), [STEPS]: [weightOf(schema), walksOf(schema)] satisfies Steps };
}

/** What it takes to go through a value once. */
function stepsThrough(value: unknown, walks: number): number {
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

function countedMembers(members: object, areNames: boolean): JsonObject {
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

/** What Ajv asks of a regular expression. It keeps one by its text. */
interface LinearPattern {
  readonly test: (text: string) => boolean;
  readonly toString: () => string;
}

/** A larger one takes long for each character. */
const LARGEST_PROGRAM = 2_000;

/**
 * A regular expression whose time grows with its text alone, where that of the language can double with each character. A
 * pattern that has no such form, as one that looks ahead, fits all: what is called judges it.
 */
function linearPattern(pattern: string, steps: StepCount): LinearPattern {
  const program = programOf(pattern);
  const size = program?.programSize() ?? 0;
  const test = (text: string): boolean => {
    steps.take(Math.max(text.length, 1) * Math.max(size, 1));
    return program === undefined || program.test(text);
  };
  return { test, toString: () => pattern };
}

let library: typeof re2 | undefined;

function programOf(pattern: string): re2.RE2JS | undefined {
  // Synchronous, and at no start: many schemas have no pattern.
  const { RE2JS } = (library ??= createRequire(import.meta.url)('re2js') as typeof re2);
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return program.programSize() > LARGEST_PROGRAM ? undefined : program;
  } catch {
    return undefined;
  }
}

/** Thrown through a check that has no way of its own to stop. */
class TooManySteps extends Error {}

/** About a tenth of a second of the work of a check, a few where it is of the worst kind. */
const MOST_STEPS = 2 ** 24;

/** Counts the work of a check, so that no schema and no value can take the time of all. */
class StepCount {
  #left = MOST_STEPS;

  start(): void {
    this.#left = MOST_STEPS;
  }

  /** Throws `TooManySteps` where there are none left. */
  take(steps: number): true {
    this.#left -= steps;
    if (this.#left < 0) throw new TooManySteps('a check took too many steps');
    return true;
  }
}

/** Of JSON text: what is made of it in about a tenth of a second. */
const MOST_CHARACTERS = 24_000;
const DEEPEST = 200;

/** Whether a JSON Schema is small enough for a check to be made of it while others wait. */
export function isCheckable(schema: object): boolean {
  return !isDeeper(schema, DEEPEST) && JSON.stringify(schema).length <= MOST_CHARACTERS;
}

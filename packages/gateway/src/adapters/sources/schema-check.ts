import { createRequire } from 'node:module';
import type { Ajv2020, _ as codeOf, Options } from 'ajv/dist/2020.js';
import type * as re2 from 're2js';
import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { CompileSchema, SchemaFault } from '../../gateway/ports/compile-schema.ts';
import { isDeeper, type JsonObject } from '@assay-mcp/kit/json-object';
import { parsePointer } from '@assay-mcp/kit/json-pointer';
import { mapSubschemas } from './schema-walk.ts';

/**
 * Validates by JSON Schema 2020-12, or by draft 7 if the schema declares it. Throws if the schema is invalid. A schema
 * too large to compile accepts every value; a check that takes too many steps rejects its value.
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

/** Like `compileSchema`, for schemas that may be invalid; the error says what is wrong. */
export function tryCompileSchema(schema: object): Result<ReturnType<CompileSchema>, string> {
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
/** Validators of the schemas themselves. Each dialect is loaded with its first schema. */
const judges: Partial<Record<Dialect, Ajv2020>> = {};

/** Ajv never frees what it compiled, so each schema gets its own instance, which is freed with it. */
function compiled(schema: object, steps: StepCount): Validate {
  const dialect = '$schema' in schema && DRAFT_7.test(String(schema.$schema)) ? 'draft7' : 'current';
  const judge = (judges[dialect] ??= open(dialect, {}));
  if (judge.validateSchema(schema) !== true) throw new Error(`schema is invalid: ${judge.errorsText()}`);
  const regExp = Object.assign((pattern: string) => linearPattern(pattern, steps), { code: 'linearPattern' });
  // Optimised code runs no faster and takes ten times as long to compile.
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
    // Before all other keywords: following references may never end.
    before: dialect === 'current' ? '$dynamicAnchor' : '$comment',
    code: ({ gen, data, schema }) => {
      const [weight, walks] = schema as Steps; // `countedSchema` wrote it
      gen.code(_`${gen.scopeValue('func', { ref: take, key: STEPS })}(${weight}, ${walks}, ${data})`);
    },
  });
}

function open(dialect: Dialect, more: Options): Ajv2020 {
  // Not strict: an unknown format must not make a value invalid.
  return new (ajvOf(dialect).Ajv)({ strict: false, logger: false, ...more });
}

interface AjvModule {
  readonly Ajv: typeof Ajv2020;
  readonly _: typeof codeOf;
}

function ajvOf(dialect: Dialect): AjvModule {
  // Loaded synchronously on first use, not at startup.
  const require = createRequire(import.meta.url);
  if (dialect === 'draft7') return require('ajv') as AjvModule;
  const { Ajv2020: Ajv, _ } = require('ajv/dist/2020.js') as {
    readonly Ajv2020: typeof Ajv2020;
    readonly _: typeof codeOf;
  };
  return { Ajv, _ };
}

/** Linear; Ajv's own check compares all pairs. */
function areUnique(items: readonly unknown[], steps: StepCount): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = serializeCanonical(item);
    steps.take(text.length);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

function faultOf(fault: Fault | undefined): SchemaFault {
  const path = parsePointer(fault?.instancePath ?? '');
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

/** Our own keyword: counts the evaluations of a subschema. */
const STEPS = 'x-assay-steps';

/** Steps of one evaluation, and bit flags of what else it iterates over (`TEXT`, `ITEMS`, `KEYS`). */
type Steps = readonly [weight: number, walks: number];

/** The schema with `STEPS` added to every subschema that a reference may reach. */
function countedSchema(schema: object): JsonObject {
  return {
    ...mapSubschemas(schema, countedSchema),
    [STEPS]: [weightOf(schema), walksOf(schema)] satisfies Steps,
  };
}

/** Steps to iterate over a value once. */
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

const EACH = 8;

/** A subschema costs its keywords and the entries that they list. */
function weightOf(part: object): number {
  return EACH * Object.values(part).reduce((sum: number, value) => sum + 1 + sizeOf(value), 1);
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

/** What Ajv requires of a regular expression. It caches one by its text. */
interface LinearPattern {
  readonly test: (text: string) => boolean;
  readonly toString: () => string;
}

/** A larger program takes too long per character. */
const MAX_PROGRAM_SIZE = 2_000;

/**
 * A regular expression that runs in linear time; JavaScript's can take exponential time. A pattern without a linear
 * form, such as one with lookahead, matches everything: the called API or function validates the value.
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
  // Loaded synchronously on first use: many schemas have no pattern.
  const { RE2JS } = (library ??= createRequire(import.meta.url)('re2js') as typeof re2);
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return program.programSize() > MAX_PROGRAM_SIZE ? undefined : program;
  } catch {
    return undefined;
  }
}

/** Thrown to stop a check, which has no other way to stop. */
class TooManySteps extends Error {}

/** About a tenth of a second of work, a few tenths in the worst case. */
const MAX_STEPS = 2 ** 24;

/** Counts the work of a check, so that no schema or value can block the event loop. */
class StepCount {
  #left = MAX_STEPS;

  start(): void {
    this.#left = MAX_STEPS;
  }

  /** Throws `TooManySteps` if none are left. */
  take(steps: number): true {
    this.#left -= steps;
    if (this.#left < 0) throw new TooManySteps('a check took too many steps');
    return true;
  }
}

/** Characters of JSON; a schema of this size compiles in about a tenth of a second. */
const MAX_CHARACTERS = 24_000;
const MAX_DEPTH = 200;

/** Whether a JSON Schema is small enough to be compiled on the event loop. */
export function isCheckable(schema: object): boolean {
  return !isDeeper(schema, MAX_DEPTH) && JSON.stringify(schema).length <= MAX_CHARACTERS;
}

import { createRequire } from 'node:module';
import type { _ as codeOf, Ajv2020, Options } from 'ajv/dist/2020.js';
import { canonicalJson } from '../../core/canonical-json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { CompileSchema, SchemaFault } from '../../gateway/ports/compile-schema.ts';
import { countedSchema, STEPS, stepsThrough, type Steps } from './counted-schema.ts';
import { isCheckable } from './is-checkable.ts';
import { linearPattern } from './linear-pattern.ts';
import { StepCount, TooManySteps } from './step-count.ts';

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

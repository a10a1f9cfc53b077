import { createRequire } from 'node:module';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { err, ok, type Result } from '../../core/result.ts';
import type { CompileSchema } from '../../gateway/ports/compile-schema.ts';

/** Checks by JSON Schema 2020-12, or by draft 7 where the schema says so. Throws where it is no such schema. */
export const compileSchema: CompileSchema = (schema) => {
  const dialect = '$schema' in schema && DRAFT_7.test(String(schema.$schema)) ? 'draft7' : 'current';
  const ajv = (loaded[dialect] ??= load(dialect));
  const validate = compileOnce(ajv, schema);
  return (value) => {
    if (validate(value)) return undefined;
    const [first] = validate.errors ?? [];
    const path = (first?.instancePath ?? '').split('/').slice(1).map(unescaped);
    const missing: unknown = first?.params['missingProperty'];
    if (typeof missing === 'string') return { path: [...path, missing], reason: 'it is missing' };
    return { path, reason: reasonOf(first) };
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

const DRAFT_7 = /^http:\/\/json-schema\.org\/draft-07\/schema#?$/;
/** What a dialect needs is loaded when the first schema of it comes. */
const loaded: Partial<Record<Dialect, Ajv2020>> = {};

/** Ajv keeps all that it ever compiled, and refuses a second schema with the `$id` of a first. */
function compileOnce(ajv: Ajv2020, schema: object): ReturnType<Ajv2020['compile']> {
  try {
    return ajv.compile(schema);
  } finally {
    ajv.removeSchema(schema);
  }
}

type Fault = NonNullable<ReturnType<Ajv2020['compile']>['errors']>[number];

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

function load(dialect: Dialect): Ajv2020 {
  // Synchronous, as whoever needs it needs it at once, and at no start. A format that is not known is no fault of a value.
  const options = { strict: false, logger: false } as const;
  const require = createRequire(import.meta.url);
  if (dialect === 'current') {
    const current = require('ajv/dist/2020.js') as { readonly Ajv2020: typeof Ajv2020 };
    return new current.Ajv2020(options);
  }
  const draft7 = require('ajv') as { readonly Ajv: typeof Ajv2020 };
  return new draft7.Ajv(options);
}

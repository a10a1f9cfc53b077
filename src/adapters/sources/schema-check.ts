import { createRequire } from 'node:module';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { CompileSchema } from '../../gateway/ports/compile-schema.ts';

let ajv: Ajv2020 | undefined;

/** Checks by JSON Schema 2020-12. What it needs is loaded when the first schema comes. */
export const compileSchema: CompileSchema = (schema) => {
  ajv ??= load();
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return undefined;
    const [first] = validate.errors ?? [];
    const path = (first?.instancePath ?? '').split('/').slice(1).map(unescaped);
    return { path, reason: reasonOf(first) };
  };
};

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

function load(): Ajv2020 {
  // Synchronous, as whoever needs it needs it at once, and at no start.
  const loaded = createRequire(import.meta.url)('ajv/dist/2020.js') as { readonly Ajv2020: typeof Ajv2020 };
  return new loaded.Ajv2020({ strict: false });
}

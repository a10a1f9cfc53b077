import { type Schema, Validator } from '@cfworker/json-schema';
import type { ErrorSchema, RJSFSchema, ValidatorType } from '@rjsf/utils';
import { parsePointerFragment } from '@assay-mcp/kit/json-pointer';

export interface ArgumentFault {
  /** JSON pointer into the arguments. */
  readonly at: string;
  readonly message: string;
}

/** Interprets the schema: the content-security policy forbids validators that compile schemas to code. */
export function findArgumentFaults(schema: RJSFSchema, args: unknown): readonly ArgumentFault[] {
  try {
    const { errors } = new Validator(schema as Schema, '2020-12', false).validate(args);
    // The errors of a schema's parts come first; the error of the whole adds nothing.
    return errors
      .filter(({ keyword }) => !SUMMARIES.has(keyword))
      .map(({ keyword, instanceLocation, error }) => {
        const at = instanceLocation.replace(/^#/, '');
        const [, missing] = /"(.*)"\.$/.exec(error) ?? [];
        return keyword === 'required' && missing !== undefined
          ? { at: `${at}/${encodeURIComponent(missing)}`, message: 'This is required.' }
          : { at, message: error.replace(/^Instance /, 'It ') };
      });
  } catch {
    return []; // A reference in the schema has no target: the server checks the arguments.
  }
}

const SUMMARIES = new Set(['properties', 'items', 'additionalProperties', '$ref', 'allOf']);

/** Converts faults to the structure that the form's fields expect. */
export function toErrorSchema(faults: readonly ArgumentFault[]): ErrorSchema {
  const root: Record<string, unknown> = {};
  for (const { at, message } of faults) {
    let node = root;
    for (const key of parsePointerFragment(at) ?? []) {
      if (key === '__proto__') break;
      node = (node[key] ??= {}) as Record<string, unknown>;
    }
    (node['__errors'] ??= [] as string[]) as string[];
    (node['__errors'] as string[]).push(message);
  }
  return root as ErrorSchema;
}

/** The form uses it only to find out which alternative of a schema matches; faults are found by `findArgumentFaults`. */
export const formValidator: ValidatorType = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: (schema, formData, rootSchema) => {
    const { $defs, definitions } = rootSchema;
    return (
      findArgumentFaults(
        { ...(definitions && { definitions }), ...($defs && { $defs }), ...schema },
        formData,
      ).length === 0
    );
  },
  rawValidation: () => ({}),
};

import { isMembers } from '@assay-mcp/kit/canonical-json';
import { isDeeper, type JsonObject } from '@assay-mcp/kit/json-object';
import type { OutputValidation } from '../../core/sources/output-validation.ts';
import { mapSubschemas } from './schema-walk.ts';

/**
 * The output schema that clients get. Official clients reject a successful result that does not match it, with its
 * content, so it must accept every answer that Assay delivers. Undefined: none is listed.
 */
export function toListedOutputSchema(
  schema: JsonObject,
  validation: OutputValidation,
): JsonObject | undefined {
  if (validation === 'off') return undefined;
  const isDeep = isDeeper(schema, MAX_DEPTH);
  // Assay treats formats as annotations. Clients check them, and many APIs write dates without a zone.
  if (validation === 'strict') return isDeep ? schema : omitFormats(schema);
  return isDeep ? { type: 'object' } : toOpenSchema(schema);
}

const MAX_DEPTH = 200;

function omitFormats(schema: JsonObject): JsonObject {
  const { format: _, ...members } = mapSubschemas(schema, omitFormats);
  return members;
}

/** Describes the promised answer and accepts every object. */
function toOpenSchema({ $schema, $defs, definitions, ...promised }: JsonObject): JsonObject {
  if (!canMove([promised, $defs, definitions])) return { type: 'object' };
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    anyOf: [promised, {}],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** Whether the references of a schema still lead to the same place after it was moved below `anyOf`. */
function canMove(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(canMove);
  if (!isMembers(value)) return true;
  return Object.entries(value).every(([key, member]) =>
    typeof member === 'string' && RELATIVE.has(key)
      ? key === '$ref' && /^#\/(?:\$defs|definitions)\//.test(member)
      : canMove(member),
  );
}

/** Keywords that depend on the place of their schema. */
const RELATIVE: ReadonlySet<string> = new Set([
  ...['$ref', '$dynamicRef', '$recursiveRef', '$id', 'id', '$anchor', '$dynamicAnchor'],
]);

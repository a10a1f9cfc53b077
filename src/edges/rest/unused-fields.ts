import type * as z from 'zod';
import type { FieldWarning } from '../../api/warnings.ts';
import { serializeCanonical, parseExactJson } from '../../core/canonical-json.ts';
import { isJsonObject, type JsonObject } from '../../core/json-object.ts';
import { toCamelCase, getSchemaMembers } from './fold-names.ts';
import { formatPointerStep } from '../../core/json-pointer.ts';

export interface UsedBody {
  readonly value: unknown;
  readonly warnings: readonly FieldWarning[];
}

interface Accepted {
  readonly schema: z.ZodType;
  readonly wrapper: string;
  /** Names that other gateways' clients send, in camelCase. */
  readonly ignores?: ReadonlySet<string>;
}

/**
 * Removes the members that have no effect: those that clients of other gateways send, and those that GET shows and a
 * copy of it sends back. A copy has the `id` of `current`; its unchanged members mean no change.
 */
export function omitUnused(
  given: unknown,
  { schema, wrapper, ignores = new Set() }: Accepted,
  current: JsonObject = {},
): UsedBody {
  const known = getSchemaMembers(schema);
  if (!isJsonObject(given) || known === undefined) return { value: given, warnings: [] };
  const warnings: FieldWarning[] = [];
  const used = (object: JsonObject, base: string, isRoot: boolean): JsonObject => {
    const isCopy = isRoot && current['id'] !== undefined && object['id'] === current['id'];
    const kept = Object.entries(object).filter(([key, value]) => {
      const name = known.has(key) || ignores.has(key) ? key : toCamelCase(key);
      const isSame = Object.hasOwn(current, name) && isSameJson(value, current[name]);
      if (isSame && (isCopy || (name === 'name' && !known.has(name)))) return false;
      if (known.has(name) || (!isRoot && key === wrapper)) return true;
      const isReadOnly = isCopy && Object.hasOwn(current, name);
      if (!isReadOnly && !ignores.has(name)) return true;
      const pointer = base + formatPointerStep(key);
      if (isReadOnly) warnings.push({ pointer, detail: READ_ONLY, code: 'read_only' });
      else if (!isEmpty(value)) warnings.push({ pointer, detail: IGNORED, code: 'ignored' });
      return false;
    });
    return Object.fromEntries(kept);
  };
  const inner = given[wrapper];
  const isWrapped = isJsonObject(inner) && !known.has(wrapper);
  const value = isWrapped
    ? { ...used(given, '', false), [wrapper]: used(inner, formatPointerStep(wrapper), true) }
    : used(given, '', true);
  return { value, warnings: warnings.slice(0, MAX_WARNINGS) };
}

const IGNORED = 'Assay has no such field; it was ignored';
const READ_ONLY = 'this field cannot be set; its new value was ignored';
const MAX_WARNINGS = 50;

function isSameJson(one: unknown, other: unknown): boolean {
  const [a, b] = [one, other].map((value) =>
    serializeCanonical(parseExactJson(JSON.stringify(value ?? null))?.value),
  );
  return a === b;
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0) // Null was checked.
  );
}

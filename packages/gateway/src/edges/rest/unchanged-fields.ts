import type * as z from 'zod';
import type { FieldWarning } from '../../api/warnings.ts';
import { serializeCanonical, parseExactJson } from '@assay-mcp/kit/canonical-json';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import type { ReadBody } from './read-fields.ts';
import { getSchemaMembers } from './schema-members.ts';

/** Whether a body is an edited copy of what GET shows. */
export function isCopy(body: JsonObject, current: JsonObject): boolean {
  return current['id'] !== undefined && body['id'] === current['id'];
}

/**
 * Removes the members of a copy that mean no change, and those that GET shows but that cannot be set. Unknown ones stay.
 */
export function omitUnchanged(
  { value: given, pointerTo }: ReadBody<unknown>,
  schema: z.ZodType,
  current: JsonObject = {},
): { readonly value: unknown; readonly warnings: readonly FieldWarning[] } {
  const known = getSchemaMembers(schema);
  if (!isJsonObject(given) || known === undefined) return { value: given, warnings: [] };
  const warnings: FieldWarning[] = [];
  const isOfCopy = isCopy(given, current);
  const kept = Object.entries(given).filter(([name, value]) => {
    const isShown = Object.hasOwn(current, name);
    const isUnnamed = !known.has(name);
    if (!isShown || !(isOfCopy || (name === 'name' && isUnnamed))) return true;
    if (isSameJson(value, current[name])) return false;
    if (!isUnnamed || !isOfCopy) return true;
    warnings.push({ pointer: pointerTo([name]), detail: READ_ONLY, code: 'read_only' });
    return false;
  });
  return { value: Object.fromEntries(kept), warnings };
}

const READ_ONLY = 'this field cannot be set; its new value was ignored';

export function isSameJson(one: unknown, other: unknown): boolean {
  const [a, b] = [one, other].map((value) =>
    serializeCanonical(parseExactJson(JSON.stringify(value ?? null))?.value),
  );
  return a === b;
}

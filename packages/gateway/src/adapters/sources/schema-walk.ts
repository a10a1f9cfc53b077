import { isMembers } from '@assay-mcp/kit/canonical-json';
import type { JsonObject } from '@assay-mcp/kit/json-object';

/** A copy of a JSON Schema in which each direct subschema is replaced. */
export function mapSubschemas(schema: object, map: (subschema: JsonObject) => JsonObject): JsonObject {
  return mapMembers(schema, false, map);
}

type MapSubschema = (subschema: JsonObject) => JsonObject;

/** Keywords that hold values or names, not schemas. */
const BARE: ReadonlySet<string> = new Set([
  ...['const', 'default', 'dependentRequired', 'enum', 'example', 'examples', 'required', 'type'],
  '$vocabulary',
]);
/** Keywords that map arbitrary names to schemas. */
const BY_NAME: ReadonlySet<string> = new Set([
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'],
]);

function mapMembers(members: object, areNames: boolean, map: MapSubschema): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([key, value]: [string, unknown]) => [
      key,
      !areNames && BARE.has(key) ? value : mapValue(value, !areNames && BY_NAME.has(key), map),
    ]),
  );
}

function mapValue(value: unknown, isByName: boolean, map: MapSubschema): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => mapValue(one, false, map));
  if (!isMembers(value)) return value;
  return isByName ? mapMembers(value, true, map) : map(value);
}

import * as z from 'zod';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';

type Schema = z.core.$ZodType;

type Path = readonly PropertyKey[];

/** The members that a schema names. Undefined if it accepts any. */
export function getSchemaMembers(schema: Schema): ReadonlyMap<string, Schema> | undefined {
  const objects = coresOf(schema).filter((core) => core instanceof z.ZodObject);
  if (objects.length === 0 || objects.some(({ def }) => isOpen(def.catchall))) return undefined;
  return new Map(objects.flatMap(({ shape }) => Object.entries(shape)));
}

/** Replaces each object in a value whose members its schema names, from the outside in. */
export function mapObjects(
  schema: Schema,
  value: unknown,
  map: (object: JsonObject, members: ReadonlyMap<string, Schema>, path: Path) => JsonObject,
  path: Path = [],
): unknown {
  const inner = (member: Schema | undefined, key: PropertyKey, one: unknown): unknown =>
    member === undefined ? one : mapObjects(member, one, map, [...path, key]);
  const cores = coresOf(schema);
  if (Array.isArray(value)) {
    const item = cores.find((core) => core instanceof z.ZodArray)?.element;
    return value.map((one, at) => inner(item, at, one));
  }
  if (!isJsonObject(value)) return value;
  const members = getSchemaMembers(schema);
  const ofAnyKey = cores.find((core) => core instanceof z.ZodRecord)?.valueType;
  const mapped = members === undefined ? value : map(value, members, path);
  return Object.fromEntries(
    Object.entries(mapped).map(([key, one]) => [key, inner(members ? members.get(key) : ofAnyKey, key, one)]),
  );
}

/** The schema without its wrappers; more than one for a union. */
function coresOf(schema: Schema): readonly Schema[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(coresOf);
  if (schema instanceof z.ZodPipe) return coresOf(schema.in);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodLazy
  )
    return coresOf(schema.unwrap());
  return [schema];
}

function isOpen(catchall: Schema | undefined): boolean {
  return catchall !== undefined && !(catchall instanceof z.ZodNever);
}

/** A JSON value as returned by `JSON.parse`. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function parseJson(text: string): Json {
  return JSON.parse(text) as Json;
}

/** The member at a path. Undefined if the path does not exist. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let here: Json | undefined = value;
  for (const step of path) {
    if (here === null || typeof here !== 'object') return undefined;
    here = (here as Readonly<Record<string, Json>>)[step];
  }
  return here;
}

export function textAt(value: Json | undefined, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== 'string')
    throw new Error(`No string at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

export function numberAt(value: Json | undefined, ...path: readonly (string | number)[]): number {
  const found = at(value, ...path);
  if (typeof found !== 'number')
    throw new Error(`No number at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

export function listAt(value: Json | undefined, ...path: readonly (string | number)[]): readonly Json[] {
  const found = at(value, ...path);
  if (!isList(found)) throw new Error(`No array at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

/** The `name` of each entry of the list at a path, in order. */
export function namesAt(value: Json | undefined, ...path: readonly (string | number)[]): readonly string[] {
  return listAt(value, ...path).map((entry) => textAt(entry, 'name'));
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

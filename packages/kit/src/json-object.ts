/** A JSON object with unchecked members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether objects and arrays are nested more than `levels` deep. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Empty if the text is not a JSON object. */
export function parseObject(text: string): JsonObject {
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}

/** A copy without the members that are undefined, as in JSON. */
export function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Defined<T>; // just removed
}

/** For types whose members are undefined only if they are optional. */
type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

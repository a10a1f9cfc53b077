/** An object of JSON, its members not looked into. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

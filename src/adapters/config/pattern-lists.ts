import { isJsonObject } from '../../core/json-object.ts';

/** Maximum number of patterns in one list. */
export const MAX_PATTERNS = 1_000;
const MAX_PATTERN_LENGTH = 200;

/** An object of lists of patterns under these names, at least one of them. Undefined if the value is anything else. */
export function patternLists<K extends string>(
  value: unknown,
  names: readonly K[],
): Partial<Record<K, readonly string[]>> | undefined {
  if (!isJsonObject(value)) return undefined;
  const lists = Object.entries(value);
  const isGood =
    lists.length > 0 &&
    lists.every(([name, list]) => names.some((one) => one === name) && isPatternList(list));
  return isGood ? (value as Partial<Record<K, readonly string[]>>) : undefined; // each member was just checked
}

export function isPatternList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_PATTERNS &&
    value.every((one) => typeof one === 'string' && one !== '' && one.length <= MAX_PATTERN_LENGTH)
  );
}

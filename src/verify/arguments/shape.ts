import { isJsonObject } from '../../core/json-object.ts';

/**
 * The structure of arguments: keys, types, and the values of booleans, but no other values. Two calls with the same shape
 * most likely run the same code.
 */
export function computeShape(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(computeShape))].sort().join('|')}]`;
  if (isJsonObject(value)) {
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${computeShape(member)}`).join(',')}}`;
  }
  if (value === null) return 'null';
  return typeof value === 'boolean' ? String(value) : typeof value;
}

import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import type { FoundValue, Knowledge } from './knowledge.ts';

const MAX_DEPTH = 5;

/** The numbers of the calls whose values arguments contain. */
export function listUses(tool: string, args: JsonObject, knowledge: Knowledge): readonly number[] {
  const uses = new Set<number>();
  const visit = (value: unknown, name: string, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) for (const one of value) visit(one, name, depth + 1);
    else if (isJsonObject(value)) for (const [key, one] of Object.entries(value)) visit(one, key, depth + 1);
    else {
      const known = knowledge.find(name, tool).find(({ known }) => String(known.value) === String(value));
      if (known !== undefined) uses.add(known.known.call);
    }
  };
  visit(args, '', 0);
  return [...uses];
}

/** Values of a former result, each with the one at its position in a new result. */
export type Replacements = ReadonlyMap<string | number, string | number>;

/** Adds what differs between the results of two equal calls, as far as they have the same structure. */
export function matchValues(
  former: readonly FoundValue[],
  now: readonly FoundValue[],
  replacements: Map<string | number, string | number>,
): void {
  for (const [at, { member, value }] of former.entries()) {
    const other = now[at];
    if (other?.member === member && other.value !== value && !replacements.has(value))
      replacements.set(value, other.value);
  }
}

/** The arguments with the values of new results. */
export function replaceValues(args: JsonObject, replacements: Replacements): JsonObject {
  if (replacements.size === 0) return args;
  const replaced = replace(args, replacements);
  return isJsonObject(replaced) ? replaced : args;
}

function replace(value: unknown, replacements: Replacements): unknown {
  if (typeof value === 'string' || typeof value === 'number') return replacements.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => replace(one, replacements));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replace(one, replacements)]));
}

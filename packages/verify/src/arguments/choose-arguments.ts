import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { generateValue, type Origin } from './generate-value.ts';
import type { ArgumentContext } from './heuristics.ts';

/** The arguments of one call, and their origin. */
export interface ArgumentSet {
  readonly args: JsonObject;
  readonly origin: Origin;
  readonly shape: string;
}

export interface ArgumentRequest {
  readonly name: string;
  readonly inputSchema: JsonObject;
  /** Arguments of real calls. */
  readonly recorded: readonly JsonObject[];
  /** Arguments from the fixtures file. If there are any, none are generated. */
  readonly fixtures: readonly JsonObject[];
  /** Maximum number of sets. */
  readonly limit: number;
}

/**
 * Different arguments for a tool, most trustworthy first: from real calls and the fixtures file; else examples of the
 * schema, then generated ones with all properties, with only the required ones, and with each other value of a flag or
 * enumeration.
 */
export function chooseArguments(request: ArgumentRequest, context: ArgumentContext): readonly ArgumentSet[] {
  const { recorded, fixtures, inputSchema, limit } = request;
  const others =
    fixtures.length > 0
      ? fixtures.map((args) => setOf(withSeed(args, context.folder), 'fixture'))
      : [...statedSets(inputSchema), ...generatedSets(request, context)];
  const sets = [...recorded.map((args) => setOf(args, 'recorded')), ...others];
  const distinct = new Map<string, ArgumentSet>();
  for (const set of sets) {
    const key = serializeCanonical(set.args);
    if (!distinct.has(key)) distinct.set(key, set);
  }
  return [...distinct.values()].slice(0, limit);
}

/** Replaces `{seed}` in all strings with the folder of the seed data. */
function withSeed(args: JsonObject, folder: string): JsonObject {
  const replaced = seeded(args, folder);
  return isJsonObject(replaced) ? replaced : {};
}

function seeded(value: unknown, folder: string): unknown {
  if (typeof value === 'string') return value.replaceAll('{seed}', folder);
  if (Array.isArray(value)) return value.map((one) => seeded(one, folder));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, seeded(one, folder)]));
}

function statedSets(schema: JsonObject): readonly ArgumentSet[] {
  const examples = Array.isArray(schema['examples']) ? schema['examples'] : [];
  return examples.filter(isJsonObject).map((args) => setOf(args, 'example'));
}

function generatedSets(request: ArgumentRequest, context: ArgumentContext): readonly ArgumentSet[] {
  const { name, inputSchema } = request;
  // Descriptions mention too much: a tool that reads a file says that it must be in an allowed directory.
  const about = name.replaceAll(/[_-]/g, ' ').toLowerCase();
  const sets: ArgumentSet[] = [];
  const add = (variant: number, isFull: boolean): void => {
    const made = generateValue(inputSchema, '', {
      context,
      variant,
      isFull,
      about,
      root: inputSchema,
      depth: 0,
    });
    if (isJsonObject(made.value)) sets.push(setOf(made.value, made.origin));
  };
  try {
    add(0, false);
    add(0, true);
    const [first] = sets;
    if (first !== undefined) sets.push(...flagged(inputSchema, first));
    add(1, true);
    add(2, false);
  } catch {
    // Values cannot be generated from this schema; the arguments generated so far remain.
  }
  return sets;
}

/** The same arguments once with each other value of each flag and enumeration. */
function flagged(schema: JsonObject, { args, origin }: ArgumentSet): readonly ArgumentSet[] {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isJsonObject(property)) return [];
    const values = property['type'] === 'boolean' ? [true, false] : property['enum'];
    return (Array.isArray(values) ? values : [])
      .filter((value) => value !== args[name])
      .map((value: unknown) => setOf({ ...args, [name]: value }, origin));
  });
}

function setOf(args: JsonObject, origin: Origin): ArgumentSet {
  return { args, origin, shape: computeShape(args) };
}

const MAX_DEPTH = 4;
const MAX_VALUES = 20;
/** A path or an identifier per line, such as the output of a tool that lists files. */
const MAX_LINE = 120;

/** Values in the result of a list-like tool, by the name of their member; tools that take an `id` can use them. */
export function collectValues(result: JsonObject): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>();
  const structured = result['structuredContent'];
  if (structured !== undefined) collect(structured, found);
  for (const block of Array.isArray(result['content']) ? result['content'] : []) {
    const text: unknown = isJsonObject(block) ? block['text'] : undefined;
    if (typeof text !== 'string' || text.length > 100_000) continue;
    try {
      collect(JSON.parse(text), found);
    } catch {
      for (const [, key = '', value = ''] of text.matchAll(/^\W*(\w*(?:id|name|key))\W*[:=]\s*(\S.*)$/gim))
        if (value.length <= MAX_LINE) push(found, key.toLowerCase(), value.trim());
    }
  }
  return found;
}

/** Adds the strings and numbers within a value, by the name of the member that contains them. */
function collect(whole: unknown, found: Map<string, unknown[]>): void {
  const walk = (value: unknown, name: string, depth: number): void => {
    if (depth < 0) return;
    if (Array.isArray(value)) for (const one of value.slice(0, MAX_VALUES)) walk(one, name, depth - 1);
    else if (isJsonObject(value))
      for (const [key, one] of Object.entries(value).slice(0, 2 * MAX_VALUES)) walk(one, key, depth - 1);
    else if (name !== '' && (typeof value === 'string' || typeof value === 'number'))
      push(found, name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase(), value);
  };
  walk(whole, '', MAX_DEPTH);
}

function push(found: Map<string, unknown[]>, key: string, value: unknown): void {
  const values = found.get(key) ?? [];
  if (values.length < MAX_VALUES && !values.includes(value)) values.push(value);
  found.set(key, values);
}

/** Whether simply calling a tool returns values that other tools take: "list_users", "search". */
export function isListLike(name: string, schema: JsonObject): boolean {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return (
    required.length === 0 &&
    /(?:^|[_.-])(?:list|search|find|get_all|read_graph|show)(?:$|[_.-]|[A-Z])/i.test(name)
  );
}

/**
 * The structure of arguments: keys, types, and the values of booleans, but no other values. Two calls with the same shape
 * most likely run the same code.
 */
function computeShape(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(computeShape))].sort().join('|')}]`;
  if (isJsonObject(value)) {
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${computeShape(member)}`).join(',')}}`;
  }
  if (value === null) return 'null';
  return typeof value === 'boolean' ? String(value) : typeof value;
}

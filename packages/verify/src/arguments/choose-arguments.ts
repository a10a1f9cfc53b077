import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { type Adjustments, generateArguments, NO_ADJUSTMENTS, type Origin } from './generate-value.ts';
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
  /** Arguments with which calls have succeeded, for this tool. */
  readonly found?: readonly ArgumentSet[];
  /** Maximum number of sets. */
  readonly limit: number;
}

/**
 * Different arguments for a tool, most trustworthy first: from real calls and the fixtures file; else those with which a
 * call has succeeded, examples of the schema, and generated ones.
 */
export function chooseArguments(request: ArgumentRequest, context: ArgumentContext): readonly ArgumentSet[] {
  const { recorded, fixtures, found = [], limit } = request;
  const others =
    fixtures.length > 0
      ? toFixtureSets(fixtures, context.folder)
      : [...found, ...statedSets(request.inputSchema), ...generatedSets(request, context)];
  const sets = [...recorded.map((args) => createSet(args, 'recorded')), ...others];
  return removeDuplicates(sets).slice(0, limit);
}

/** `folder`: of the seed data. */
export function toFixtureSets(fixtures: readonly JsonObject[], folder: string): readonly ArgumentSet[] {
  return fixtures.map((args) => createSet(withSeed(args, folder), 'fixture'));
}

/** How arguments are generated. */
export interface Proposal {
  readonly variant: number;
  /** Whether optional members are given. */
  readonly isFull: boolean;
  readonly adjustments: Adjustments;
}

/** Arguments that a schema allows. Undefined if none can be generated. */
export function proposeArguments(
  { name, inputSchema }: Pick<ArgumentRequest, 'name' | 'inputSchema'>,
  context: ArgumentContext,
  proposal: Proposal,
): ArgumentSet | undefined {
  try {
    const made = generateArguments({ ...proposal, context, tool: name, root: inputSchema });
    return isJsonObject(made.value) ? createSet(made.value, made.origin) : undefined;
  } catch {
    // Values cannot be generated from this schema.
    return undefined;
  }
}

export function removeDuplicates(sets: readonly ArgumentSet[]): readonly ArgumentSet[] {
  const distinct = new Map<string, ArgumentSet>();
  for (const set of sets) {
    const key = serializeCanonical(set.args);
    if (!distinct.has(key)) distinct.set(key, set);
  }
  return [...distinct.values()];
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
  return examples.filter(isJsonObject).map((args) => createSet(args, 'example'));
}

function generatedSets(request: ArgumentRequest, context: ArgumentContext): readonly ArgumentSet[] {
  return [
    { variant: 0, isFull: false },
    { variant: 0, isFull: true },
    { variant: 1, isFull: true },
    { variant: 2, isFull: false },
  ].flatMap((given) => proposeArguments(request, context, { ...given, adjustments: NO_ADJUSTMENTS }) ?? []);
}

export function createSet(args: JsonObject, origin: Origin): ArgumentSet {
  return { args, origin, shape: computeShape(args) };
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

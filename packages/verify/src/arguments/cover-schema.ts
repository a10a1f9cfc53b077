import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { type ArgumentSet, createSet, removeDuplicates } from './choose-arguments.ts';
import {
  findWeakest,
  type Generated,
  type Generation,
  listValues,
  NO_ADJUSTMENTS,
  resolveSchema,
  readType,
} from './generate-value.ts';
import { type ArgumentContext, listWritingStrings } from './heuristics.ts';

export interface Coverage {
  readonly name: string;
  readonly inputSchema: JsonObject;
  /** Arguments with which a call has succeeded. */
  readonly base: ArgumentSet;
}

const MAX_BRANCHES = 12;
const MAX_OTHER = 3;
/** Values of things that exist. */
const MAX_KNOWN = 6;
const MAX_PROPERTIES = 40;
const MAX_VARIANTS = 60;
/** Sets in which two arguments are changed. */
const MAX_PAIRS = 16;
const NOT_ASCII = 'Größe 名前 ✓';
const LONG = 'A long note. '.repeat(100).slice(0, 1_000);

/**
 * The arguments with one of them changed at a time: every enumerated value, branch of a union, bound, and so on. The
 * first change of each argument comes first.
 */
export function coverSchema(
  { name, inputSchema, base }: Coverage,
  context: ArgumentContext,
): readonly ArgumentSet[] {
  const given = {
    context,
    variant: 0,
    isFull: false,
    tool: name,
    adjustments: NO_ADJUSTMENTS,
    root: inputSchema,
  };
  const root = resolveSchema(inputSchema, inputSchema);
  const properties = isJsonObject(root['properties'])
    ? Object.entries(root['properties']).slice(0, MAX_PROPERTIES)
    : [];
  const changes = properties.map(([member, schema]) => changesOf(member, schema, base.args[member], given));
  const sets: ArgumentSet[] = [];
  for (let at = 0; at < Math.max(0, ...changes.map((list) => list.length)); at += 1)
    for (const [index, [member]] of properties.entries()) {
      const change = changes[index]?.[at];
      if (change === undefined) continue;
      const origin = findWeakest([change, base]);
      sets.push(createSet({ ...base.args, [member]: change.value }, origin));
    }
  const own = serializeCanonical(base.args);
  return removeDuplicates([
    ...sets,
    ...pairChanges(
      properties.map(([member, schema], at) => ({
        ...{ member, schema: resolveSchema(schema, inputSchema), changes: changes[at] ?? [] },
      })),
      base,
    ),
  ])
    .filter(({ args }) => serializeCanonical(args) !== own)
    .slice(0, MAX_VARIANTS);
}

interface ChangedMember {
  readonly member: string;
  readonly schema: JsonObject;
  readonly changes: readonly Generated[];
}

/** Each flag and enumerated value together with another value that exists: `force` with the name of what is there. */
function pairChanges(members: readonly ChangedMember[], base: ArgumentSet): readonly ArgumentSet[] {
  const isOption = ({ schema }: ChangedMember): boolean =>
    readType(schema) === 'boolean' || Array.isArray(schema['enum']);
  const options = members.filter(isOption);
  const existing = members.flatMap((one) =>
    one.changes
      .filter(({ origin }) => origin === 'chained')
      .map((change) => ({ member: one.member, change })),
  );
  return existing
    .flatMap(({ member, change }) =>
      options.flatMap((option) =>
        option.changes.map((other) =>
          createSet(
            { ...base.args, [member]: change.value, [option.member]: other.value },
            findWeakest([change, other, base]),
          ),
        ),
      ),
    )
    .slice(0, MAX_PAIRS);
}

/** Other values for one argument. */
function changesOf(
  member: string,
  schema: unknown,
  current: unknown,
  given: Generation,
): readonly Generated[] {
  try {
    const all = valuesOf(member, schema, given);
    const own = current === undefined ? undefined : serializeCanonical(current);
    return all.filter(({ value }) => serializeCanonical(value ?? null) !== own);
  } catch {
    // Values cannot be generated from this part of the schema.
    return [];
  }
}

function valuesOf(member: string, schema: unknown, given: Generation): readonly Generated[] {
  const own = resolveSchema(schema, given.root);
  const stated = (
    values: readonly unknown[],
    origin: Generated['origin'] = 'example',
  ): readonly Generated[] => values.map((value) => ({ value, origin }));
  if (Array.isArray(own['enum'])) return stated(own['enum'].slice(0, MAX_BRANCHES));
  const branches: readonly unknown[] = [own['anyOf'], own['oneOf']].find(Array.isArray) ?? [];
  if (branches.length > 0)
    return branches
      .slice(0, MAX_BRANCHES)
      .flatMap((branch) => valuesOf(member, branch, given).slice(0, MAX_BRANCHES));
  const type = readType(own);
  if (Object.hasOwn(own, 'const')) return stated([own['const']]);
  if (type === 'null') return stated([null]);
  if (type === 'boolean') return stated([true, false], 'heuristic');
  const likely = listValues(own, member, given);
  if (type === 'integer' || type === 'number')
    return [
      ...stated([own['minimum'], own['maximum']].filter((bound) => typeof bound === 'number')),
      ...likely,
      ...stated([0], 'heuristic').filter(() => isZeroAllowed(own)),
    ];
  if (type === 'array')
    return [...listsOf(likely[0]?.value, own), ...nestedChanges(own, likely[0]?.value, given)];
  if (type === 'object' || isJsonObject(own['properties']))
    return [...likely, ...nestedChanges(own, likely[0]?.value, given)];
  const writing = listWritingStrings(
    { name: member, schema: own, tool: given.tool, siblings: [] },
    given.context,
  );
  const known = likely.filter(({ origin }) => origin === 'chained').slice(0, MAX_KNOWN);
  const others = likely.filter((one) => !known.includes(one)).slice(0, MAX_OTHER);
  return [...stated(writing, 'heuristic'), ...known, ...others, ...edgeStrings(own)];
}

function isZeroAllowed({ minimum = -Infinity, exclusiveMinimum = -Infinity }: JsonObject): boolean {
  return Number(minimum) <= 0 && Number(exclusiveMinimum) < 0;
}

function listsOf(list: unknown, { minItems = 0, maxItems = Infinity }: JsonObject): readonly Generated[] {
  const [first] = Array.isArray(list) ? (list as readonly unknown[]) : [];
  const lists = [[], ...(first === undefined ? [] : [[first, first]])];
  return lists
    .filter(({ length }) => length >= Number(minItems) && length <= Number(maxItems))
    .map((value) => ({ value, origin: 'heuristic' }));
}

/** Every enumerated value and flag of objects in an argument. */
function nestedChanges(schema: JsonObject, value: unknown, given: Generation): readonly Generated[] {
  const isList = Array.isArray(value);
  const inner: unknown = isList ? (value as readonly unknown[])[0] : value;
  const own = resolveSchema(isList ? schema['items'] : schema, given.root);
  if (!isJsonObject(inner) || !isJsonObject(own['properties'])) return [];
  return Object.entries(own['properties'])
    .slice(0, MAX_PROPERTIES)
    .flatMap(([key, part]) => {
      const found = resolveSchema(part, given.root);
      const isSmall = Array.isArray(found['enum']) || readType(found) === 'boolean';
      const values = isSmall || inner[key] === undefined ? valuesOf(key, found, given) : [];
      return values.slice(0, isSmall ? MAX_BRANCHES : 1).map((one) => {
        const changed = { ...inner, [key]: one.value };
        return { value: isList ? [changed] : changed, origin: one.origin };
      });
    });
}

/** Empty, not ASCII, and 1,000 characters, where nothing rules them out. */
function edgeStrings({
  pattern,
  format,
  minLength = 0,
  maxLength = Infinity,
}: JsonObject): readonly Generated[] {
  if (pattern !== undefined || format !== undefined) return [];
  return ['', NOT_ASCII, LONG]
    .filter(({ length }) => length >= Number(minLength) && length <= Number(maxLength))
    .map((value) => ({ value, origin: 'generated' }));
}
